"""The public names of Counterfoil: this stub is the one list of them, for type checkers and at run time alike."""

from .arithmetic.compute.devices import (
    list_devices as list_devices,
)
from .arithmetic.compute.listing import (
    Device as Device,
)
from .audit.adjudicator import (
    adjudicate as adjudicate,
)
from .audit.kept import (
    state_folder as state_folder,
)
from .audit.overview import (
    inspect as inspect,
)
from .audit.overview import (
    inspect_stages as inspect_stages,
)
from .audit.recognition import (
    recognise as recognise,
)
from .audit.replay import (
    find_progress as find_progress,
)
from .audit.replay import (
    run_audit as run_audit,
)
from .audit.signatures import (
    read_client_order as read_client_order,
)
from .audit.statement.afterwards import (
    afterwards as afterwards,
)
from .audit.statement.afterwards import (
    statements_beside as statements_beside,
)
from .audit.statement.afterwards import (
    verdict_digest as verdict_digest,
)
from .audit.statement.signed import (
    Adjudication as Adjudication,
)
from .audit.statement.signed import (
    Afterwards as Afterwards,
)
from .audit.statement.signed import (
    Reply as Reply,
)
from .audit.statement.signed import (
    Verdict as Verdict,
)
from .audit.statement.signed import (
    Withdrawal as Withdrawal,
)
from .audit.statement.verdict import (
    check_bundle_file as check_bundle_file,
)
from .audit.statement.verdict import (
    preview_adjudication as preview_adjudication,
)
from .audit.statement.verdict import (
    preview_verdict as preview_verdict,
)
from .audit.statement.verdict import (
    sign_verdict as sign_verdict,
)
from .audit.statement.verdict import (
    verify_signed as verify_signed,
)
from .audit.statement.verdict import (
    verify_verdict as verify_verdict,
)
from .audit.table import write_steps_csv as write_steps_csv
from .audit.timing import plan_audit as plan_audit
from .audit.values.account import (
    account_of as account_of,
)
from .audit.values.account import (
    bound_by as bound_by,
)
from .audit.values.account import (
    meaning_of as meaning_of,
)
from .audit.values.account import (
    rows_named as rows_named,
)
from .audit.values.adjudication import (
    AdjudicationFinished as AdjudicationFinished,
)
from .audit.values.adjudication import (
    AdjudicationOutcome as AdjudicationOutcome,
)
from .audit.values.adjudication import (
    AdjudicationReport as AdjudicationReport,
)
from .audit.values.adjudication import (
    AdjudicationStarted as AdjudicationStarted,
)
from .audit.values.delivery import (
    Basis as Basis,
)
from .audit.values.delivery import (
    ComparedTensor as ComparedTensor,
)
from .audit.values.delivery import (
    DeliveryOutcome as DeliveryOutcome,
)
from .audit.values.delivery import (
    DeliveryProgress as DeliveryProgress,
)
from .audit.values.delivery import (
    DeliveryReport as DeliveryReport,
)
from .audit.values.delivery import (
    Relation as Relation,
)
from .audit.values.delivery import (
    WeightsFile as WeightsFile,
)
from .audit.values.dispute import (
    Dispute as Dispute,
)
from .audit.values.dispute import (
    DisputedElement as DisputedElement,
)
from .audit.values.dispute import (
    DisputedOperator as DisputedOperator,
)
from .audit.values.dispute import (
    ElementComparison as ElementComparison,
)
from .audit.values.dispute import (
    Finding as Finding,
)
from .audit.values.dispute import (
    NeighbourOperator as NeighbourOperator,
)
from .audit.values.dispute import (
    Right as Right,
)
from .audit.values.dispute import (
    TensorDetail as TensorDetail,
)
from .audit.values.dispute import (
    TensorDivergence as TensorDivergence,
)
from .audit.values.events import (
    AuditFinished as AuditFinished,
)
from .audit.values.events import (
    AuditStarted as AuditStarted,
)
from .audit.values.events import (
    CheckChanged as CheckChanged,
)
from .audit.values.events import (
    DisputeLocated as DisputeLocated,
)
from .audit.values.events import (
    DivergenceMeasured as DivergenceMeasured,
)
from .audit.values.events import (
    Event as Event,
)
from .audit.values.events import (
    OperatorDone as OperatorDone,
)
from .audit.values.events import (
    ProgressRestored as ProgressRestored,
)
from .audit.values.events import (
    ResumedFromCheckpoint as ResumedFromCheckpoint,
)
from .audit.values.events import (
    StepReplayed as StepReplayed,
)
from .audit.values.events import (
    WorkersReported as WorkersReported,
)
from .audit.values.orders import (
    with_client_key as with_client_key,
)
from .audit.values.orders import (
    with_client_order as with_client_order,
)
from .audit.values.orders import (
    with_trainer_key as with_trainer_key,
)
from .audit.values.outcome import (
    Check as Check,
)
from .audit.values.outcome import (
    CheckNumber as CheckNumber,
)
from .audit.values.outcome import (
    CheckState as CheckState,
)
from .audit.values.outcome import (
    OrderSource as OrderSource,
)
from .audit.values.outcome import (
    Outcome as Outcome,
)
from .audit.values.plan import (
    Plan as Plan,
)
from .audit.values.plan import (
    PlanProgress as PlanProgress,
)
from .audit.values.plan import (
    PlanRow as PlanRow,
)
from .audit.values.recognised import (
    FileUse as FileUse,
)
from .audit.values.recognised import (
    Recognised as Recognised,
)
from .audit.values.report import (
    AuditReport as AuditReport,
)
from .audit.values.report import (
    Kept as Kept,
)
from .audit.values.report import (
    Steering as Steering,
)
from .audit.values.report import (
    SteeringRow as SteeringRow,
)
from .audit.values.request import (
    AuditRequest as AuditRequest,
)
from .audit.values.sampling import (
    Sample as Sample,
)
from .audit.values.sampling import (
    SegmentRequest as SegmentRequest,
)
from .audit.values.sampling import (
    Selection as Selection,
)
from .audit.values.sampling import (
    ranges as ranges,
)
from .audit.values.steptable import (
    StepMatch as StepMatch,
)
from .audit.values.steptable import (
    StepRow as StepRow,
)
from .audit.values.steptable import (
    StepTable as StepTable,
)
from .audit.values.summary import BundleSummary as BundleSummary
from .audit.values.trust import (
    Level as Level,
)
from .audit.values.trust import (
    MachineTrust as MachineTrust,
)
from .audit.values.trust import (
    OrderTrust as OrderTrust,
)
from .audit.values.trust import (
    TrainerTrust as TrainerTrust,
)
from .audit.values.trust import (
    Trust as Trust,
)
from .audit.values.trust import (
    TrustLine as TrustLine,
)
from .audit.values.trust import (
    seen_by as seen_by,
)
from .audit.values.trust import (
    signed_by_trainer as signed_by_trainer,
)
from .audit.values.trust import (
    trust_of as trust_of,
)
from .audit.values.workers import (
    LocalWorkers as LocalWorkers,
)
from .audit.values.workers import (
    WorkerState as WorkerState,
)
from .base.cancel import CancelToken as CancelToken
from .base.digest import Digest as Digest
from .base.errors import (
    CounterfoilError as CounterfoilError,
)
from .base.errors import (
    GivenFileError as GivenFileError,
)
from .base.errors import (
    RecordingError as RecordingError,
)
from .base.errors import (
    SignatureError as SignatureError,
)
from .base.errors import (
    SignerError as SignerError,
)
from .base.plaintext import one_line as one_line
from .base.precision import PROFILES as PROFILES
from .base.precision import ExactPrecision as ExactPrecision
from .base.precision import Precision as Precision
from .base.wholefiles import write_whole as write_whole
from .bundle.capsule import (
    CapsuleContents as CapsuleContents,
)
from .bundle.capsulewriter import (
    write_capsule as write_capsule,
)
from .commit.merkle import MerkleComparison as MerkleComparison
from .delivery.basis import (
    basis_of as basis_of,
)
from .delivery.export import (
    export_weights as export_weights,
)
from .delivery.verification import (
    verify_weights as verify_weights,
)
from .operators.random import uniform as uniform
from .program.limits import (
    Estimate as Estimate,
)
from .program.limits import (
    Limits as Limits,
)
from .program.limits import (
    limits_for as limits_for,
)
from .program.update import (
    Adadelta as Adadelta,
)
from .program.update import (
    Adagrad as Adagrad,
)
from .program.update import (
    Adam as Adam,
)
from .program.update import (
    Adamax as Adamax,
)
from .program.update import (
    AdamW as AdamW,
)
from .program.update import (
    ClipByNorm as ClipByNorm,
)
from .program.update import (
    ClipByValue as ClipByValue,
)
from .program.update import (
    Lion as Lion,
)
from .program.update import (
    NAdam as NAdam,
)
from .program.update import (
    ParameterGroup as ParameterGroup,
)
from .program.update import (
    ParameterGroups as ParameterGroups,
)
from .program.update import (
    RAdam as RAdam,
)
from .program.update import (
    RmsProp as RmsProp,
)
from .program.update import (
    Sgd as Sgd,
)
from .program.update import (
    WeightAverage as WeightAverage,
)
from .signer.client import (
    Passphrase as Passphrase,
)
from .signer.client import (
    SignerProcess as SignerProcess,
)
from .signer.client import (
    start_signer as start_signer,
)
from .signing.envelope import (
    claimed_key_ids as claimed_key_ids,
)
from .signing.keys import (
    PublicKey as PublicKey,
)
from .signing.keys import (
    SigningKey as SigningKey,
)
from .signing.keys import (
    generate_key as generate_key,
)
from .signing.keys import (
    load_private_key as load_private_key,
)
from .signing.keys import (
    load_public_key as load_public_key,
)
from .signing.keys import (
    needs_passphrase as needs_passphrase,
)
from .signing.publickeys import (
    grouped as grouped,
)
from .signing.publickeys import (
    is_public_key as is_public_key,
)
from .signing.publickeys import (
    key_id_of as key_id_of,
)
from .signing.publickeys import (
    pem_of as pem_of,
)
from .training.custom import (
    CustomJob as CustomJob,
)
from .training.custom import (
    order_custom as order_custom,
)
from .training.huggingface import (
    FineTuning as FineTuning,
)
from .training.huggingface import (
    Lora as Lora,
)
from .training.huggingface import (
    order_huggingface as order_huggingface,
)
from .training.recipes.digits import order_digits as order_digits
from .training.recipes.gpt2 import (
    Gpt2Size as Gpt2Size,
)
from .training.recipes.gpt2 import (
    order_gpt2 as order_gpt2,
)
from .training.recipes.logistic import order_logistic as order_logistic
from .training.recipes.resnet import order_resnet as order_resnet
from .training.recipes.vgg import order_vgg as order_vgg
from .training.recorder import (
    DataChecked as DataChecked,
)
from .training.recorder import (
    OperatorRecorded as OperatorRecorded,
)
from .training.recorder import (
    RecordFinished as RecordFinished,
)
from .training.recorder import (
    RecordingResumed as RecordingResumed,
)
from .training.recorder import (
    RecordStarted as RecordStarted,
)
from .training.recorder import (
    RunAssembled as RunAssembled,
)
from .training.recorder import (
    StepRecorded as StepRecorded,
)
from .training.recorder import (
    StepRestored as StepRestored,
)
from .training.recorder import (
    record as record,
)
from .training.recording import (
    RecordingChecked as RecordingChecked,
)
from .training.recordingfolder import (
    discard_recording as discard_recording,
)
from .training.tamper import LabelFlip as LabelFlip
from .training.turns import (
    Turn as Turn,
)
from .training.turns import (
    TurnsJob as TurnsJob,
)
from .training.turns import (
    order_turns as order_turns,
)

__version__: str

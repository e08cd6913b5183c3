"""The public names of Counterfoil: this stub is the one list of them, for type checkers and at run time alike."""

from counterfoil.arithmetic.compute.devicelist import (
    list_devices as list_devices,
)
from counterfoil.arithmetic.compute.devicename import (
    Device as Device,
)
from counterfoil.audit.askedruns import (
    check_run as check_run,
    count_facts as count_facts,
    facts_as_json as facts_as_json,
)
from counterfoil.audit.closelook import (
    compare_tensor as compare_tensor,
    look_at_operator as look_at_operator,
)
from counterfoil.audit.difference import (
    run_difference as run_difference,
)
from counterfoil.audit.disputedrows import (
    find_disputed_rows as find_disputed_rows,
)
from counterfoil.audit.follow import (
    follow as follow,
    follow_run as follow_run,
)
from counterfoil.audit.hearings import (
    adjudicate as adjudicate,
    find_progress as find_progress,
    run_audit as run_audit,
)
from counterfoil.audit.ledger import (
    read_ledger as read_ledger,
)
from counterfoil.audit.overview import (
    inspect as inspect,
    inspect_stages as inspect_stages,
)
from counterfoil.audit.progressfile import (
    state_folder as state_folder,
)
from counterfoil.audit.recognition import (
    capsule_subject as capsule_subject,
    recognise as recognise,
)
from counterfoil.audit.table import (
    write_steps_csv as write_steps_csv,
)
from counterfoil.audit.timing import (
    plan_audit as plan_audit,
)
from counterfoil.audit.values.accountprose import (
    account_of as account_of,
    bound_by as bound_by,
    consequence_of as consequence_of,
    difference_of as difference_of,
    meaning_of as meaning_of,
    rows_named as rows_named,
)
from counterfoil.audit.values.closelook import (
    DisputedRows as DisputedRows,
    LookProgress as LookProgress,
    OperatorLook as OperatorLook,
    OperatorValue as OperatorValue,
    RowKind as RowKind,
    RowsRead as RowsRead,
    TensorSides as TensorSides,
)
from counterfoil.audit.values.comparedorders import (
    with_client_key as with_client_key,
    with_client_order as with_client_order,
    with_trainer_key as with_trainer_key,
)
from counterfoil.audit.values.delivery import (
    Basis as Basis,
    ComparedTensor as ComparedTensor,
    DeliveryOutcome as DeliveryOutcome,
    DeliveryProgress as DeliveryProgress,
    DeliveryReport as DeliveryReport,
    Relation as Relation,
    WeightsFile as WeightsFile,
)
from counterfoil.audit.values.difference import (
    ComparedRun as ComparedRun,
    Difference as Difference,
    DifferenceProgress as DifferenceProgress,
    OperatorElements as OperatorElements,
    StateDifference as StateDifference,
    Unlike as Unlike,
)
from counterfoil.audit.values.figures import (
    figures as figures,
    joined_time as joined_time,
    kept_said as kept_said,
    log_said as log_said,
    recorded_log_said as recorded_log_said,
    score_lines as score_lines,
    score_said as score_said,
)
from counterfoil.audit.values.filekind import (
    CapsuleSubject as CapsuleSubject,
    FileUse as FileUse,
    Recognised as Recognised,
)
from counterfoil.audit.values.fleet import (
    Fleet as Fleet,
    FleetRequest as FleetRequest,
    FleetRow as FleetRow,
    MeasuredStep as MeasuredStep,
    measured_by as measured_by,
    plan_fleet as plan_fleet,
)
from counterfoil.audit.values.follow import (
    FollowEnded as FollowEnded,
    FollowEvent as FollowEvent,
    FollowRequest as FollowRequest,
    FollowStarted as FollowStarted,
    FollowState as FollowState,
    HeadsChecked as HeadsChecked,
    RecordingWentBack as RecordingWentBack,
    StepFollowed as StepFollowed,
    StepSealed as StepSealed,
)
from counterfoil.audit.values.inspections import (
    InspectionRequest as InspectionRequest,
    Inspections as Inspections,
    plan_inspections as plan_inspections,
)
from counterfoil.audit.values.ledger import (
    Ledger as Ledger,
    LedgerProgress as LedgerProgress,
    LedgerRun as LedgerRun,
    LedgerVerdict as LedgerVerdict,
    NotCounted as NotCounted,
    RatePolicy as RatePolicy,
    RunOutcome as RunOutcome,
    TrainerRecord as TrainerRecord,
    with_policy as with_policy,
)
from counterfoil.audit.values.location import (
    Located as Located,
    LocateProgress as LocateProgress,
    Place as Place,
    StepWeights as StepWeights,
)
from counterfoil.audit.values.plan import (
    Plan as Plan,
    PlanProgress as PlanProgress,
    PlanRow as PlanRow,
)
from counterfoil.audit.values.runrules import (
    CheckedRules as CheckedRules,
    RuleOutcome as RuleOutcome,
    RuleResult as RuleResult,
)
from counterfoil.audit.values.summary import (
    BundleSummary as BundleSummary,
)
from counterfoil.base.cards import (
    GPUS as GPUS,
    Gpu as Gpu,
)
from counterfoil.base.joberrors import (
    OrderError as OrderError,
    RecordingError as RecordingError,
    SignerError as SignerError,
)
from counterfoil.base.oneline import (
    one_line as one_line,
)
from counterfoil.base.profilecosts import (
    PROFILE_COSTS as PROFILE_COSTS,
    ProfileCost as ProfileCost,
)
from counterfoil.base.wholefiles import (
    copy_whole as copy_whole,
    write_whole as write_whole,
)
from counterfoil.bundle.capsulewriter import (
    write_capsule as write_capsule,
)
from counterfoil.cli.commandevents import (
    CommandProgress as CommandProgress,
    OrderWritten as OrderWritten,
)
from counterfoil.cli.commandforms import (
    CommandForm as CommandForm,
    CommandOption as CommandOption,
    command_form as command_form,
    order_command as order_command,
    order_forms as order_forms,
)
from counterfoil.cli.job import (
    CommandEnded as CommandEnded,
    run_command as run_command,
)
from counterfoil.cli.orderprocess import (
    make_order as make_order,
)
from counterfoil.delivery.basis import (
    basis_of as basis_of,
)
from counterfoil.delivery.export import (
    export_weights as export_weights,
)
from counterfoil.delivery.location import (
    locate_hash as locate_hash,
    locate_weights as locate_weights,
)
from counterfoil.delivery.verification import (
    verify_weights as verify_weights,
)
from counterfoil.delivery.witness import (
    Witness as Witness,
)
from counterfoil.distributed.hooks import (
    ExactAllreduceState as ExactAllreduceState,
    exact_allreduce_hook as exact_allreduce_hook,
    set_exact_reduce_scatter as set_exact_reduce_scatter,
)
from counterfoil.doctor.examination import (
    MachineProgress as MachineProgress,
    examine_machine as examine_machine,
)
from counterfoil.doctor.findings import (
    MachineFact as MachineFact,
    MachinePage as MachinePage,
    MachineState as MachineState,
)
from counterfoil.exports.handover import (
    HandOver as HandOver,
    write_hand_over as write_hand_over,
)
from counterfoil.program.philoxdraws import (
    uniform as uniform,
)
from counterfoil.program.update import (
    Adadelta as Adadelta,
    Adagrad as Adagrad,
    Adam as Adam,
    Adamax as Adamax,
    AdamW as AdamW,
    ClipBy as ClipBy,
    ClipByNorm as ClipByNorm,
    ClipByValue as ClipByValue,
    Lion as Lion,
    NAdam as NAdam,
    ParameterGroup as ParameterGroup,
    ParameterGroups as ParameterGroups,
    RAdam as RAdam,
    RmsProp as RmsProp,
    Sgd as Sgd,
    WeightAverage as WeightAverage,
)
from counterfoil.signer.client import (
    Passphrase as Passphrase,
    SignerProcess as SignerProcess,
    start_signer as start_signer,
)
from counterfoil.signing.certificates import (
    claimed_beside as claimed_beside,
)
from counterfoil.signing.kinds import (
    Afterwards as Afterwards,
    Cause as Cause,
    Reply as Reply,
    Revocation as Revocation,
    RevocationList as RevocationList,
    Withdrawal as Withdrawal,
)
from counterfoil.signing.privatekeys import (
    generate_key as generate_key,
    load_private_key as load_private_key,
    needs_passphrase as needs_passphrase,
)
from counterfoil.training.custom import (
    CustomJob as CustomJob,
    order_custom as order_custom,
)
from counterfoil.training.division import (
    Division as Division,
)
from counterfoil.training.evaluation import (
    Evaluation as Evaluation,
    answer_counts as answer_counts,
    classification_counts as classification_counts,
    token_counts as token_counts,
)
from counterfoil.training.huggingface import (
    FineTuning as FineTuning,
    Lora as Lora,
    order_huggingface as order_huggingface,
)
from counterfoil.training.loop import (
    Loop as Loop,
    LoopStep as LoopStep,
    loop as loop,
)
from counterfoil.training.previews import (
    DataPreview as DataPreview,
    preview_data as preview_data,
)
from counterfoil.training.recipes.digits import (
    order_digits as order_digits,
)
from counterfoil.training.recipes.gpt2 import (
    Gpt2Size as Gpt2Size,
    order_gpt2 as order_gpt2,
)
from counterfoil.training.recipes.logistic import (
    order_logistic as order_logistic,
)
from counterfoil.training.recipes.resnet import (
    order_resnet as order_resnet,
)
from counterfoil.training.recipes.vgg import (
    order_vgg as order_vgg,
)
from counterfoil.training.recorder import (
    record as record,
)
from counterfoil.training.recordingevents import (
    DataChecked as DataChecked,
    OperatorRecorded as OperatorRecorded,
    RankFinished as RankFinished,
    RecordFinished as RecordFinished,
    RecordingChecked as RecordingChecked,
    RecordingResumed as RecordingResumed,
    RecordStarted as RecordStarted,
    RunAssembled as RunAssembled,
    StepRecorded as StepRecorded,
    StepRestored as StepRestored,
)
from counterfoil.training.recordingfolder import (
    discard_recording as discard_recording,
)
from counterfoil.training.stages import (
    Expected as Expected,
)
from counterfoil.training.tamper import (
    LabelFlip as LabelFlip,
)
from counterfoil.training.turns import (
    Turn as Turn,
    TurnsJob as TurnsJob,
    order_turns as order_turns,
)
from counterfoil.trust.afterwards import (
    afterwards as afterwards,
    statements_beside as statements_beside,
    verdict_digest as verdict_digest,
)
from counterfoil.trust.folder import (
    TrustFolder as TrustFolder,
    read_store as read_store,
    trust_home as trust_home,
)
from counterfoil.trust.keyfile import (
    KeyFile as KeyFile,
    KnownKey as KnownKey,
    ListNote as ListNote,
    Role as Role,
    named_keys as named_keys,
    of_another_kind as of_another_kind,
)
from counterfoil.trust.store import (
    NO_TRUST as NO_TRUST,
    TrustStore as TrustStore,
)
from counterfoil.trust.validity import (
    Validity as Validity,
)
from counterfoil.trust.verdictfile import (
    Judgement as Judgement,
    auditors_of as auditors_of,
    claimed_key as claimed_key,
    open_judgement as open_judgement,
    read_judgement as read_judgement,
)
from counterfoil_core.base.cancel import (
    CancelToken as CancelToken,
)
from counterfoil_core.base.digest import (
    Digest as Digest,
)
from counterfoil_core.base.errors import (
    CounterfoilError as CounterfoilError,
    GivenFileError as GivenFileError,
    SignatureError as SignatureError,
)
from counterfoil_core.base.precision import (
    PROFILES as PROFILES,
    ExactPrecision as ExactPrecision,
    Precision as Precision,
)
from counterfoil_core.base.stoprule import (
    StopRule as StopRule,
)
from counterfoil_core.bundle.capsule import (
    CapsuleContents as CapsuleContents,
)
from counterfoil_core.commit.merkle import (
    MerkleComparison as MerkleComparison,
)
from counterfoil_core.panel.panel import (
    run_panel as run_panel,
)
from counterfoil_core.parties.signatures import (
    read_client_order as read_client_order,
)
from counterfoil_core.program.limits import (
    Estimate as Estimate,
    Limits as Limits,
    limits_for as limits_for,
)
from counterfoil_core.signing.envelope import (
    claimed_key_ids as claimed_key_ids,
)
from counterfoil_core.signing.keys import (
    PublicKey as PublicKey,
    SigningKey as SigningKey,
    load_public_key as load_public_key,
)
from counterfoil_core.signing.publickeys import (
    group_digits as group_digits,
    is_public_key as is_public_key,
    key_id_of as key_id_of,
    pem_of as pem_of,
)
from counterfoil_core.signing.statements import (
    open_said as open_said,
)
from counterfoil_core.statement.judgement import (
    Adjudication as Adjudication,
    Verdict as Verdict,
)
from counterfoil_core.statement.verdict import (
    check_bundle_file as check_bundle_file,
    preview_adjudication as preview_adjudication,
    preview_verdict as preview_verdict,
    sign_verdict as sign_verdict,
    verify_signed as verify_signed,
    verify_verdict as verify_verdict,
)
from counterfoil_core.values.adjudication import (
    AdjudicationOutcome as AdjudicationOutcome,
    AdjudicationReport as AdjudicationReport,
)
from counterfoil_core.values.dispute import (
    Dispute as Dispute,
    DisputedElement as DisputedElement,
    DisputedOperator as DisputedOperator,
    ElementComparison as ElementComparison,
    Finding as Finding,
    NeighbourOperator as NeighbourOperator,
    Right as Right,
    TensorDetail as TensorDetail,
    TensorDivergence as TensorDivergence,
)
from counterfoil_core.values.events import (
    AdjudicationFinished as AdjudicationFinished,
    AdjudicationStarted as AdjudicationStarted,
    AuditFinished as AuditFinished,
    AuditStarted as AuditStarted,
    CheckChanged as CheckChanged,
    DisputeLocated as DisputeLocated,
    DivergenceMeasured as DivergenceMeasured,
    Event as Event,
    OperatorDone as OperatorDone,
    ProgressRestored as ProgressRestored,
    ResumedFromCheckpoint as ResumedFromCheckpoint,
    StepReplayed as StepReplayed,
    WorkersReported as WorkersReported,
)
from counterfoil_core.values.outcome import (
    Check as Check,
    CheckNumber as CheckNumber,
    CheckState as CheckState,
    OrderSource as OrderSource,
    Outcome as Outcome,
)
from counterfoil_core.values.panel import (
    Blame as Blame,
    Member as Member,
    PanelAdmitted as PanelAdmitted,
    PanelCompared as PanelCompared,
    PanelEvent as PanelEvent,
    PanelFinished as PanelFinished,
    PanelOutcome as PanelOutcome,
    PanelReport as PanelReport,
    PanelRuled as PanelRuled,
    Parting as Parting,
    Ruling as Ruling,
    Standing as Standing,
    StepJudged as StepJudged,
)
from counterfoil_core.values.report import (
    AuditReport as AuditReport,
    Kept as Kept,
    Steering as Steering,
    SteeringRow as SteeringRow,
)
from counterfoil_core.values.request import (
    AuditRequest as AuditRequest,
)
from counterfoil_core.values.runfacts import (
    DataUse as DataUse,
    FactsProgress as FactsProgress,
    OperationCount as OperationCount,
    RunFacts as RunFacts,
    Score as Score,
)
from counterfoil_core.values.sampling import (
    Sample as Sample,
    SegmentRequest as SegmentRequest,
    Selection as Selection,
    ranges as ranges,
)
from counterfoil_core.values.steptable import (
    StepMatch as StepMatch,
    StepRow as StepRow,
    StepTable as StepTable,
)
from counterfoil_core.values.trust import (
    Level as Level,
    MachineTrust as MachineTrust,
    OrderTrust as OrderTrust,
    TrainerTrust as TrainerTrust,
    Trust as Trust,
    TrustLine as TrustLine,
    seen_by as seen_by,
    signed_by_maker as signed_by_maker,
    trust_of as trust_of,
)
from counterfoil_core.values.workers import (
    Followed as Followed,
    LocalWorkers as LocalWorkers,
    WorkerState as WorkerState,
)

__version__: str

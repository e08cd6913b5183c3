"""Commands that look at a bundle without judging the training: what is in it, what an audit of it costs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.base.interrupt import cancel_on_interrupt
from counterfoil.base.wholefiles import write_whole
from counterfoil.cli import monitor, terminal
from counterfoil.cli.elsewhere import provide_file
from counterfoil.cli.exits import ExitWith
from counterfoil.cli.fleet import DEFAULT_GPU, FleetOptions, gpu_named, show_fleet
from counterfoil.cli.inspections import InspectionOptions, show_inspections
from counterfoil.cli.options import (
    AllowLargeOption,
    BadFractionOption,
    BundlePlace,
    ClientOrderOption,
    Compute,
    DataOption,
    ForceOption,
    HeadsOption,
    JsonOption,
    Parties,
)
from counterfoil.cli.places import READS
from counterfoil.cli.reader import Reader, revoked_signers, show_revoked_signers
from counterfoil.cli.targets import check_writable
from counterfoil_core.remote.address import Address, place_of
from counterfoil_core.signing.keys import load_public_key
from counterfoil_core.signing.publickeys import key_id_of
from counterfoil_core.values.outcome import CheckState, Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from counterfoil.audit.values.fleet import MeasuredStep
    from counterfoil.audit.values.inspections import InspectionRequest
    from counterfoil.audit.values.plan import Plan
    from counterfoil.base.cards import Gpu


def inspect(
    bundle: BundlePlace,
    parties: Parties,
    reader: Reader,
    auditor_key: Annotated[
        list[Path] | None,
        READS,
        typer.Option(
            help="The public key of an auditor whom you trust to have compared the order with its script; may be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    heads: HeadsOption = None,
    allow_large: AllowLargeOption = False,
    quick: Annotated[
        bool | None,
        typer.Option(
            "--quick/--full",
            help="Do not read the stored states, most of a large file, or do; it says whether it did.",
            show_default="full, but quick where pieces of the file are fetched",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Anyone: say what is in a bundle, and check what can be checked without replaying it.

    Exit code 0 when every such check passed, 3 when one failed: a part of the file is not what was ordered or signed,
    or who signed it had a key that was revoked; 2 when the program is larger than the limits.

    Example: counterfoil inspect run.cfoil --order job.cfoil
    """
    trainer, client = parties.trainer, parties.client
    auditors = tuple(load_public_key(each).key_id for each in auditor_key or ())
    store = reader.store
    with cancel_on_interrupt() as cancel, terminal.progress("Checking", terminal.console(stderr=True), "states") as bar:
        with cancel.at_once():
            from counterfoil.audit import overview
            from counterfoil.audit.signers import signers_in
            from counterfoil_core.program.limits import limits_for

        def show(done: int, total: int) -> None:
            if done == 0:
                bar.start(total)
            bar.update(done)

        limits, outside = limits_for(allow_large), monitor.current_monitor()
        with provide_file(place_of(bundle), terminal.console(stderr=True)) as place:
            summary = overview.inspect(
                place,
                parties.order,
                trainer,
                cancel,
                heads,
                limits,
                client_key=client,
                quick=isinstance(place, Address) if quick is None else quick,
                progress=show,
                reach=None if outside is None else outside.ranges,
            )
    from counterfoil.cli import jsonform, reports

    found = revoked_signers(store, signers_in(summary), own_order=parties.order is not None) if store.lists else None

    auditors += tuple(map(key_id_of, store.auditors))
    compared = summary.compared(auditors, revoked=store.covers)
    if json:
        jsonform.print_json(summary, None, compared=compared, **({} if found is None else {"revoked": found}))
    else:
        reports.show_summary(terminal.console(), summary, compared)
        if found is not None:
            show_revoked_signers(terminal.console(), store, found)
    states = {check.state for check in summary.checks}
    outcome = Outcome.INCONCLUSIVE if CheckState.SKIPPED in states else Outcome.VERIFIED
    refused = CheckState.FAILED in states or (found is not None and bool(found.gone))
    raise ExitWith((Outcome.REFUSED if refused else outcome).exit_code)


def plan(
    run: Annotated[
        Path | None, READS, typer.Argument(help="The trainer's run, a .cfoil file.", show_default=False)
    ] = None,
    *,
    order: ClientOrderOption = None,
    data: DataOption = None,
    compute: Compute,
    bad_fraction: BadFractionOption = 0.01,
    slurm: Annotated[
        bool,
        typer.Option(
            "--slurm", help="Print a batch script instead, an array of jobs that replay the whole run in parts."
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="With --slurm: how many jobs.")] = 16,
    gpu: Annotated[
        str | None,
        typer.Option(
            "--gpu",
            help="With --fleet or --inspections: the GPU whose data sheet is taken, where no RUN is given.",
            metavar="NAME",
            show_default=f"{DEFAULT_GPU}, or --chip-rate",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            help="With --fleet: least probability that a sample catches a run with --bad-fraction of bad segments. "
            "With --inspections: probability that the run is caught.",
            show_default="0.99, or 0.9",
        ),
    ] = None,
    fleets: FleetOptions,
    inspecting: InspectionOptions,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Auditor: measure a few steps here, and show what each confidence costs in segments and in time.

    With --fleet: what runs of billions of parameters take, by such a step or by a GPU's data sheet. With --inspections:
    how many chips inspectors look at in a year to catch a run of a given size.

    Example: counterfoil plan run.cfoil --bad-fraction 0.05

    Example: counterfoil plan --fleet --gpu H100 --parameters 1,8,70 --devices 512

    Example: counterfoil plan --inspections --operations 1e25 --chips 1e6,1e7 --samples 5000
    """
    fleet, inspections = fleets.fleet, inspecting.inspections
    _belong(fleet, "--fleet", fleets)
    _belong(inspections, "--inspections", inspecting)
    if not (fleet or inspections) and (gpu is not None or confidence is not None):
        said = [name for name, value in (("--gpu", gpu), ("--confidence", confidence)) if value is not None]
        raise typer.BadParameter(f"{' and '.join(said)} belong to a plan with --fleet or --inspections.")
    if inspections:
        if run is not None or fleet or slurm or (gpu is not None and inspecting.chip_rate is not None):
            raise typer.BadParameter("--inspections takes no RUN, and --gpu or --chip-rate, not both.")
        asked = inspecting.request(None if gpu is None else gpu_named(gpu).bfloat16, confidence)
        _plan_inspections(asked, inspecting.plot, force, json)
        return
    if run is None and not fleet:
        raise typer.BadParameter("Name a RUN, or give --fleet for a plan of larger ones, or --inspections.")
    if fleet and (slurm or (run is not None and gpu is not None)):
        raise typer.BadParameter("--fleet makes no batch script, and takes a RUN or --gpu, not both.")
    console = terminal.console(stderr=json or slurm)
    from counterfoil.cli import jsonform, reports

    if fleet:
        from counterfoil.audit.values.fleet import measured_by, plan_fleet

        wanted = fleets.request(confidence, bad_fraction)
        source: Gpu | MeasuredStep
        if run is None:
            source = gpu_named(gpu or DEFAULT_GPU)
        else:
            source = measured_by(_measured(run, order, data, bad_fraction, compute, console))
        planned = plan_fleet(source, wanted)
        if json:
            jsonform.print_json(planned)
        else:
            show_fleet(console, planned)
        return
    assert run is not None
    found = _measured(run, order, data, bad_fraction, compute, console)
    if slurm:
        from counterfoil.audit.parts.slurm import array_job

        seconds = found.load_seconds + found.step_seconds * found.steps / found.segments
        files = {"--order": order, "--data": data}
        options = [word for name, path in files.items() if path is not None for word in (name, str(path.resolve()))]
        options += ["--allow-large"] * compute.allow_large
        options += [] if compute.device == "cpu" else ["--device", compute.device]
        script = array_job(
            str(run.resolve()), found.segments, jobs, seconds, options=options, gpu=compute.device.startswith("cuda")
        )
        print(script, end="")
    elif json:
        jsonform.print_json(found)
    else:
        reports.show_plan(console, found)


def _belong(wanted: bool, option: str, group: FleetOptions | InspectionOptions) -> None:
    """Refuse what belongs to another plan than the one that is asked for; raises typer.BadParameter."""
    given = {field.name.replace("_", "-"): getattr(group, field.name) for field in fields(group)}
    if not wanted and (said := [name for name, value in given.items() if value is not None and value is not False]):
        raise typer.BadParameter(f"--{' and --'.join(said)} belong to a plan with {option}.")


def _plan_inspections(asked: InspectionRequest, plot: Path | None, force: bool, json: bool) -> None:
    """Show a plan of inspections, and draw it where that is asked for."""
    from counterfoil.audit.values.inspections import plan_inspections
    from counterfoil.cli import jsonform

    if plot is not None:
        check_writable(plot, force)
    planned = plan_inspections(asked)
    console = terminal.console(stderr=json)
    if json:
        jsonform.print_json(planned)
    else:
        show_inspections(console, planned)
    if plot is not None:
        from counterfoil.exports.inspectionplot import inspection_plot

        write_whole(plot, inspection_plot(planned).encode(), what="the plot")
        console.print(f"Wrote {terminal.markup(str(plot))}.", soft_wrap=True)


def _measured(
    run: Path, order: Path | None, data: Path | None, bad_fraction: float, compute: Compute, console: Console
) -> Plan:
    """Let a few steps of a run be replayed for their time, and return the plan that they make."""
    from counterfoil.audit.values.plan import Plan, PlanProgress

    with cancel_on_interrupt() as cancel, terminal.progress("Measuring", console) as bar:
        with cancel.at_once():
            from counterfoil.audit.timing import plan_audit

            monitor.get_kernels()
        for event in plan_audit(
            run,
            order=order,
            data=data,
            bad_fraction=bad_fraction,
            device=compute.device,
            threads=compute.threads,
            cancel=cancel,
            limits=compute.limits,
        ):
            match event:
                case PlanProgress():
                    if event.done == 0:
                        bar.start(event.total)
                    bar.update(event.done)
                case Plan():
                    found = event
    return found

"""Functions of which only the names are imported."""


def prepare_deepspeed() -> None:
    raise NotImplementedError


prepare_fsdp = unwrap_model_for_generation = prepare_deepspeed

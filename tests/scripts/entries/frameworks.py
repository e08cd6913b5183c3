"""Scripts whose loop is a framework's: transformers, TRL, Lightning, Accelerate."""

from __future__ import annotations

from functools import partial

from tests.scripts import materials
from tests.scripts.entry import Change, Script, seeded

TRAINERS = (
    Script(
        "transformers run_clm",
        "huggingface/transformers",
        "examples/pytorch/language-modeling/run_clm.py",
        (
            *("--model_name_or_path", "model", "--train_file", "train.txt", "--validation_file", "valid.txt"),
            *("--do_train", "--block_size", "16", "--per_device_train_batch_size", "4", "--max_steps", "3"),
            *("--output_dir", "out", "--report_to", "none", "--use_cpu"),
        ),
        standins=("evaluate",),
        libraries=("transformers", "datasets"),
        materials=materials.language_model,
    ),
    Script(
        "transformers run_mlm",
        "huggingface/transformers",
        "examples/pytorch/language-modeling/run_mlm.py",
        (
            *("--model_name_or_path", "model", "--train_file", "train.txt", "--validation_file", "valid.txt"),
            *("--do_train", "--max_seq_length", "16", "--per_device_train_batch_size", "4", "--max_steps", "3"),
            *("--output_dir", "out", "--report_to", "none", "--use_cpu"),
        ),
        standins=("evaluate",),
        libraries=("transformers", "datasets"),
        materials=materials.masked_model,
    ),
    Script(
        "transformers run_glue",
        "huggingface/transformers",
        "examples/pytorch/text-classification/run_glue.py",
        (
            *("--model_name_or_path", "model", "--train_file", "train.json", "--validation_file", "valid.json"),
            *("--do_train", "--max_seq_length", "32", "--per_device_train_batch_size", "4", "--max_steps", "3"),
            *("--output_dir", "out", "--report_to", "none", "--use_cpu"),
        ),
        standins=("evaluate",),
        libraries=("transformers", "datasets", "sklearn"),
        materials=materials.classifier,
    ),
    Script(
        "stanford_alpaca train.py",
        "tatsu-lab/stanford_alpaca",
        "train.py",
        (
            *(
                "--model_name_or_path",
                "model",
                "--data_path",
                "data.json",
                "--output_dir",
                "out",
                "--report_to",
                "none",
            ),
            *("--per_device_train_batch_size", "2", "--max_steps", "3", "--model_max_length", "512", "--use_cpu"),
        ),
        needs=("utils.py",),
        standins=("openai",),
        libraries=("transformers",),
        materials=materials.instructions,
        size=(
            Change(
                "train.py",
                "trainer = Trainer(model=model, tokenizer=tokenizer,",
                "trainer = Trainer(model=model, processing_class=tokenizer,",
                "a transformers from 5 on",
            ),
        ),
    ),
    Script(
        "Lightning bug_report_model",
        "Lightning-AI/pytorch-lightning",
        "examples/pytorch/bug_report/bug_report_model.py",
        libraries=("lightning",),
        steps=1,
        size=(seeded("examples/pytorch/bug_report/bug_report_model.py"),),
    ),
    Script(
        "Fabric image_classifier",
        "Lightning-AI/pytorch-lightning",
        "examples/fabric/image_classifier/train_fabric.py",
        ("--batch-size", "16", "--epochs", "1"),
        standins=("torchvision",),
        libraries=("lightning",),
        losses=False,
    ),
    Script(
        "accelerate nlp_example",
        "huggingface/accelerate",
        "examples/nlp_example.py",
        ("--cpu",),
        standins=("evaluate",),
        libraries=("accelerate", "datasets", "transformers"),
        materials=partial(materials.glue, model="bert-base-cased"),
    ),
    Script(
        "transformers run_glue_no_trainer",
        "huggingface/transformers",
        "examples/pytorch/text-classification/run_glue_no_trainer.py",
        (
            *("--model_name_or_path", "model", "--train_file", "train.json", "--validation_file", "valid.json"),
            *("--max_length", "32", "--per_device_train_batch_size", "4", "--max_train_steps", "3"),
            *("--output_dir", "out", "--seed", "1"),
        ),
        standins=("evaluate",),
        libraries=("accelerate", "datasets", "transformers"),
        materials=materials.classifier,
        environment={"ACCELERATE_USE_CPU": "true"},
    ),
    *(
        Script(
            f"accelerate by_feature/{name}",
            "huggingface/accelerate",
            f"examples/by_feature/{name}.py",
            ("--cpu", *more),
            standins=("evaluate",),
            libraries=("accelerate", "datasets", "transformers"),
            materials=partial(materials.glue, model="bert-base-cased"),
            steps=8,
            size=(
                Change(
                    f"examples/by_feature/{name}.py",
                    'config = {"lr": 2e-5, "num_epochs": 3, "seed": 42, "batch_size": 16}',
                    'config = {"lr": 2e-5, "num_epochs": 2, "seed": 42, "batch_size": 4}',
                    "a small batch",
                ),
            ),
        )
        for name, more in (("gradient_accumulation", ("--gradient_accumulation_steps", "2")), ("early_stopping", ()))
    ),
    Script(
        "Lightning generative_adversarial_net",
        "Lightning-AI/pytorch-lightning",
        "examples/pytorch/domain_templates/generative_adversarial_net.py",
        ("--latent_dim", "8"),
        standins=("torchvision",),
        libraries=("lightning", "tensorboard"),
        materials=materials.processed_digits,
        losses=False,
        steps=4,
        size=(
            Change(
                "examples/pytorch/domain_templates/generative_adversarial_net.py",
                'Trainer(accelerator="gpu", devices=1)',
                'Trainer(accelerator="cpu", devices=1, max_epochs=1)',
                "no GPU",
            ),
            Change(
                "examples/pytorch/domain_templates/generative_adversarial_net.py",
                "MNISTDataModule()",
                "MNISTDataModule(val_split=32, batch_size=16)",
                "a small batch",
            ),
        ),
    ),
)

TRL = tuple(
    Script(
        f"trl {name}.py",
        "huggingface/trl",
        f"trl/scripts/{name}.py",
        (
            *("--model_name_or_path", "model", "--dataset_name", "data", "--output_dir", "out", "--report_to", "none"),
            *("--per_device_train_batch_size", "2", "--max_steps", "3", "--use_cpu", "--bf16", "False", *more),
        ),
        libraries=("trl",),
        materials=made,
    )
    for name, made, more in (
        ("sft", materials.completions, ("--max_length", "32")),
        ("dpo", materials.preferences, ("--max_length", "32")),
        ("reward", materials.comparisons, ("--max_length", "32")),
        (
            "grpo",
            materials.rewards,
            (
                *("--reward_funcs", "rewards.length", "--num_generations", "2", "--max_completion_length", "8"),
                *("--beta", "0.0", "--num_iterations", "1"),
            ),
        ),
    )
)

PACKED = Script(
    "trl sft.py with packing",
    "huggingface/trl",
    "trl/scripts/sft.py",
    (
        *("--model_name_or_path", "model", "--dataset_name", "data", "--output_dir", "out", "--report_to", "none"),
        *("--per_device_train_batch_size", "2", "--max_steps", "3", "--use_cpu", "--bf16", "False"),
        *("--max_length", "32", "--packing"),
    ),
    variant="with --packing",
    libraries=("trl",),
    materials=materials.completions,
)

FRAMEWORKS = (*TRAINERS, *TRL, PACKED)

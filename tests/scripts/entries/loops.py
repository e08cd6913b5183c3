"""Loops written by hand, in scripts that need PyTorch alone."""

from __future__ import annotations

from tests.scripts import materials
from tests.scripts.entry import Change, Script, seeded

EXAMPLES = "pytorch/examples"

LOOPS = (
    Script(
        "nanoGPT",
        "karpathy/nanoGPT",
        "train.py",
        (
            *("--device=cpu", "--compile=False", "--dtype=float32", "--dataset=shakespeare_char", "--eval_iters=1"),
            *("--batch_size=4", "--block_size=16", "--n_layer=2", "--n_head=2", "--n_embd=16", "--max_iters=3"),
            *("--gradient_accumulation_steps=2", "--warmup_iters=2", "--lr_decay_iters=4"),
        ),
        needs=("model.py", "configurator.py"),
        materials=materials.tokens,
    ),
    Script(
        "minGPT chargpt",
        "karpathy/minGPT",
        "projects/chargpt/chargpt.py",
        (
            *("--model.model_type=None", "--model.n_layer=1", "--model.n_head=2", "--model.n_embd=16"),
            *("--data.block_size=16", "--trainer.num_workers=0", "--trainer.batch_size=4", "--trainer.max_iters=3"),
            *("--model.embd_pdrop=0.0", "--model.resid_pdrop=0.0", "--model.attn_pdrop=0.0"),
        ),
        needs=("mingpt",),
        imports=(".",),
        materials=materials.characters,
        changes=(
            Change(
                "projects/chargpt/chargpt.py",
                "        if trainer.iter_num % 500 == 0:",
                "        if trainer.iter_num % 500 == 499:",
                "no sampling before anything is trained",
            ),
        ),
    ),
    Script(
        "llm.c train_gpt2.py",
        "karpathy/llm.c",
        "train_gpt2.py",
        (
            *("--model", "d12", "--input_bin", "tokens.bin", "--batch_size", "2", "--sequence_length", "16"),
            *("--total_batch_size", "64", "--num_iterations", "3", "--write_tensors", "0", "--device", "cpu"),
        ),
        standins=("tiktoken",),
        materials=materials.shard,
        size=(
            Change(
                "train_gpt2.py",
                '"d12": GPTConfig(block_size=1024, vocab_size=50257, n_layer=12, n_head=12, n_embd=768)',
                '"d12": GPTConfig(block_size=32, vocab_size=512, n_layer=1, n_head=2, n_embd=16)',
                "a tiny model",
            ),
        ),
    ),
    Script(
        "examples: mnist",
        EXAMPLES,
        "mnist/main.py",
        ("--batch-size", "16", "--epochs", "1", "--no-accel"),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: vae",
        EXAMPLES,
        "vae/main.py",
        ("--batch-size", "16", "--epochs", "1"),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: regression", EXAMPLES, "regression/main.py", optimizer=False, size=(seeded("regression/main.py"),)
    ),
    Script(
        "examples: super_resolution",
        EXAMPLES,
        "super_resolution/main.py",
        ("--upscale_factor", "3", "--batchSize", "4", "--nEpochs", "1", "--threads", "0"),
        standins=("torchvision",),
        libraries=("six",),
        materials=materials.super_resolution,
        size=(
            Change(
                "super_resolution/data.py",
                "crop_size = calculate_valid_crop_size(256, upscale_factor)\n\n    return DatasetFromFolder(train_dir",
                "crop_size = calculate_valid_crop_size(48, upscale_factor)\n\n    return DatasetFromFolder(train_dir",
                "smaller images",
            ),
        ),
    ),
    Script(
        "examples: fast_neural_style",
        EXAMPLES,
        "fast_neural_style/neural_style/neural_style.py",
        (
            *("train", "--dataset", "coco", "--style-image", "style.png", "--save-model-dir", "models"),
            *("--epochs", "1", "--batch-size", "2", "--image-size", "32"),
        ),
        standins=("torchvision",),
        materials=materials.style,
    ),
    Script(
        "examples: word_language_model, Transformer",
        EXAMPLES,
        "word_language_model/main.py",
        variant="Transformer",
        losses=False,
        arguments=(
            *("--data", "data/tiny", "--model", "Transformer", "--emsize", "16", "--nhid", "16", "--nlayers", "1"),
            *("--batch_size", "4", "--bptt", "8", "--epochs", "1", "--dropout", "0", "--lr", "1"),
        ),
        optimizer=False,
        materials=materials.text_corpus,
    ),
    Script(
        "examples: word_language_model, LSTM",
        EXAMPLES,
        "word_language_model/main.py",
        variant="LSTM",
        arguments=(
            *("--data", "data/tiny", "--model", "LSTM", "--emsize", "16", "--nhid", "16", "--nlayers", "1"),
            *("--batch_size", "4", "--bptt", "8", "--epochs", "1", "--dropout", "0", "--lr", "1"),
        ),
        optimizer=False,
        materials=materials.text_corpus,
    ),
    Script(
        "examples: dcgan",
        EXAMPLES,
        "dcgan/main.py",
        (
            *("--dataset", "fake", "--batchSize", "4", "--imageSize", "64", "--ngf", "4", "--ndf", "4", "--nz", "8"),
            *("--niter", "1", "--workers", "0", "--manualSeed", "1"),
        ),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: gat",
        EXAMPLES,
        "gat/main.py",
        ("--epochs", "3", "--hidden-dim", "8", "--num-heads", "2", "--dropout-p", "0", "--no-accel"),
        materials=materials.cora,
        size=(
            Change(
                "gat/main.py",
                "idx[:1200], idx[1200:1600], idx[1600:]",
                "idx[:40], idx[40:80], idx[80:]",
                "a small graph",
            ),
        ),
    ),
    Script(
        "examples: gcn",
        EXAMPLES,
        "gcn/main.py",
        ("--epochs", "3", "--hidden-dim", "8", "--dropout-p", "0", "--no-accel"),
        standins=("requests",),
        materials=materials.cora,
        size=(
            Change(
                "gcn/main.py",
                "idx[:1000], idx[1000:1500], idx[1500:]",
                "idx[:40], idx[40:80], idx[80:]",
                "a small graph",
            ),
        ),
    ),
    Script(
        "examples: mnist_rnn",
        EXAMPLES,
        "mnist_rnn/main.py",
        ("--batch-size", "16", "--epochs", "1"),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: siamese_network",
        EXAMPLES,
        "siamese_network/main.py",
        ("--batch-size", "4", "--epochs", "1", "--no-accel"),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: time_sequence_prediction",
        EXAMPLES,
        "time_sequence_prediction/train.py",
        ("--steps", "2"),
        libraries=("matplotlib",),
        materials=materials.sines,
        size=(
            Change(
                "time_sequence_prediction/train.py",
                "data = torch.load('traindata.pt')",
                "data = torch.load('traindata.pt', weights_only=False)",
                "a torch from 2.6 on",
            ),
        ),
    ),
    Script(
        "examples: mnist_forward_forward",
        EXAMPLES,
        "mnist_forward_forward/main.py",
        ("--epochs", "3", "--train_size", "32", "--test_size", "16", "--no_accel"),
        standins=("torchvision",),
        steps=6,
        size=(Change("mnist_forward_forward/main.py", "Net([784, 500, 500])", "Net([784, 20, 20])", "narrow layers"),),
    ),
    Script(
        "examples: mnist_hogwild",
        EXAMPLES,
        "mnist_hogwild/main.py",
        ("--batch-size", "16", "--epochs", "1", "--num-processes", "2"),
        standins=("torchvision",),
        losses=False,
    ),
    Script(
        "examples: imagenet",
        EXAMPLES,
        "imagenet/main.py",
        (
            *("images", "--epochs", "1", "--batch-size", "4", "--workers", "0", "--no-accel", "--print-freq", "1"),
            *("--lr", "0.001", "--seed", "1"),
        ),
        remark="batch norms of four small images make rounding grow from step to step",
        standins=("torchvision",),
        materials=materials.image_splits,
        size=(
            Change(
                "imagenet/main.py",
                "                transforms.RandomResizedCrop(224),",
                "                transforms.RandomResizedCrop(32),",
                "small images",
            ),
            Change(
                "imagenet/main.py",
                "                transforms.Resize(256),\n                transforms.CenterCrop(224),",
                "                transforms.Resize(36),\n                transforms.CenterCrop(32),",
                "small images",
            ),
        ),
    ),
    Script(
        "pytorch-cifar",
        "kuangliu/pytorch-cifar",
        "main.py",
        needs=("models", "utils.py"),
        standins=("torchvision",),
        losses=False,
        size=(
            Change(
                "utils.py",
                "_, term_width = os.popen('stty size', 'r').read().split()",
                "term_width = 80",
                "no terminal",
            ),
            Change(
                "main.py",
                "trainset, batch_size=128, shuffle=True, num_workers=2)",
                "trainset, batch_size=4, shuffle=True, num_workers=0)",
                "a small batch",
            ),
            Change("main.py", "net = SimpleDLA()", "net = LeNet()", "a small network"),
        ),
    ),
)

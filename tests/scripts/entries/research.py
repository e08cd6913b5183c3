"""Repositories of papers: averages of weights, queues, sparse tables, low-rank updates."""

from __future__ import annotations

from tests.scripts import materials
from tests.scripts.entry import Change, Script

BYOL = (
    Script(
        "byol-pytorch (README)",
        "lucidrains/byol-pytorch",
        "README.md",
        imports=(".",),
        needs=("byol_pytorch",),
        standins=("torchvision",),
        losses=False,
        size=(
            Change(
                "README.py", "models.resnet50(pretrained=True)", "models.resnet18(pretrained=True)", "a small network"
            ),
            Change("README.py", "image_size = 256", "image_size = 32", "small images"),
            Change("README.py", "torch.randn(20, 3, 256, 256)", "torch.randn(4, 3, 32, 32)", "small images"),
            Change("README.py", "range(100)", "range(4)", "few steps"),
        ),
    ),
    Script(
        "SimCLR",
        "sthalles/SimCLR",
        "run.py",
        (
            *("-data", "datasets", "-dataset-name", "cifar10", "--epochs", "1", "-b", "4", "-j", "0"),
            *("--log-every-n-steps", "1", "--disable-cuda", "--out_dim", "16"),
        ),
        needs=("simclr.py", "utils.py", "data_aug", "models", "exceptions"),
        standins=("torchvision",),
        libraries=("tensorboard",),
        losses=False,
    ),
    Script(
        "moco",
        "facebookresearch/moco",
        "main_moco.py",
        (
            *("images", "--arch", "resnet18", "--workers", "0", "--epochs", "1", "--batch-size", "4", "--lr", "0.03"),
            *("--dist-url", "tcp://127.0.0.1:29537", "--dist-backend", "gloo", "--world-size", "1", "--rank", "0"),
            *("--moco-dim", "16", "--moco-k", "16", "--mlp", "--moco-t", "0.2", "--cos", "--print-freq", "1"),
        ),
        needs=("moco",),
        standins=("torchvision",),
        materials=materials.image_splits,
        losses=False,
        size=(
            Change(
                "main_moco.py",
                "args.distributed = args.world_size > 1 or",
                "args.distributed = args.world_size > 0 or",
                "one process without a GPU",
            ),
            Change(
                "main_moco.py",
                "            model.cuda()\n            # Distr",
                "            # Distr",
                "one process without a GPU",
            ),
            Change(
                "main_moco.py",
                "nn.CrossEntropyLoss().cuda(args.gpu)",
                "nn.CrossEntropyLoss()",
                "one process without a GPU",
            ),
            Change(
                "main_moco.py",
                "correct_k = correct[:k].view(-1)",
                "correct_k = correct[:k].reshape(-1)",
                "a torch from 1.7 on",
            ),
            Change("moco/builder.py", "randperm(batch_size_all).cuda()", "randperm(batch_size_all)", "no GPU"),
            Change("moco/builder.py", "dtype=torch.long).cuda()", "dtype=torch.long)", "no GPU"),
        ),
    ),
)

TABLES = (
    Script(
        "dlrm",
        "facebookresearch/dlrm",
        "dlrm_s_pytorch.py",
        (
            *("--arch-sparse-feature-size=4", "--arch-mlp-bot=8-4", "--arch-embedding-size=20-10-15"),
            *("--arch-mlp-top=10-4-1", "--data-size=64", "--mini-batch-size=8", "--num-indices-per-lookup=3"),
            *("--learning-rate=0.1",),
        ),
        needs=(
            "dlrm_data_pytorch.py",
            "data_utils.py",
            "data_loader_terabyte.py",
            "extend_distributed.py",
            "mlperf_logger.py",
            "tricks",
            "optim",
        ),
        libraries=("sklearn", "tensorboard"),
    ),
    Script(
        "pygcn",
        "tkipf/pygcn",
        "pygcn/train.py",
        ("--no-cuda", "--epochs", "3", "--hidden", "8", "--dropout", "0"),
        imports=(".",),
        libraries=("scipy",),
        materials=materials.citations,
        size=(
            Change(
                "pygcn/utils.py",
                "    idx_train = range(140)\n    idx_val = range(200, 500)\n    idx_test = range(500, 1500)",
                "    idx_train = range(40)\n    idx_val = range(40, 80)\n    idx_test = range(80, 120)",
                "a small graph",
            ),
        ),
    ),
)

MODELS = (
    Script(
        "Pytorch-UNet",
        "milesial/Pytorch-UNet",
        "train.py",
        ("--epochs", "2", "--batch-size", "1", "--scale", "1", "--validation", "25"),
        needs=("evaluate.py", "unet", "utils"),
        standins=("torchvision", "wandb"),
        materials=materials.masks,
        steps=8,
        losses=False,
        size=(
            Change(
                "unet/unet_model.py",
                "        self.inc = (DoubleConv(n_channels, 64))\n"
                "        self.down1 = (Down(64, 128))\n"
                "        self.down2 = (Down(128, 256))\n"
                "        self.down3 = (Down(256, 512))\n",
                "        self.inc = (DoubleConv(n_channels, 4))\n"
                "        self.down1 = (Down(4, 8))\n"
                "        self.down2 = (Down(8, 16))\n"
                "        self.down3 = (Down(16, 32))\n",
                "narrow layers",
            ),
            Change(
                "unet/unet_model.py",
                "        self.down4 = (Down(512, 1024 // factor))\n"
                "        self.up1 = (Up(1024, 512 // factor, bilinear))\n"
                "        self.up2 = (Up(512, 256 // factor, bilinear))\n"
                "        self.up3 = (Up(256, 128 // factor, bilinear))\n"
                "        self.up4 = (Up(128, 64, bilinear))\n"
                "        self.outc = (OutConv(64, n_classes))\n",
                "        self.down4 = (Down(32, 64 // factor))\n"
                "        self.up1 = (Up(64, 32 // factor, bilinear))\n"
                "        self.up2 = (Up(32, 16 // factor, bilinear))\n"
                "        self.up3 = (Up(16, 8 // factor, bilinear))\n"
                "        self.up4 = (Up(8, 4, bilinear))\n"
                "        self.outc = (OutConv(4, n_classes))\n",
                "narrow layers",
            ),
        ),
    ),
    Script(
        "guided-diffusion image_train.py",
        "openai/guided-diffusion",
        "scripts/image_train.py",
        (
            *("--data_dir", "images", "--image_size", "16", "--channel_mult", "1,2", "--num_channels", "32"),
            *("--num_res_blocks", "1", "--num_heads", "2", "--attention_resolutions", "8", "--diffusion_steps", "10"),
            *("--noise_schedule", "cosine"),
            *("--batch_size", "2", "--lr_anneal_steps", "4", "--log_interval", "1", "--ema_rate", "0.9,0.99"),
        ),
        needs=("guided_diffusion",),
        imports=(".",),
        standins=("mpi4py",),
        libraries=("blobfile", "lxml"),
        materials=materials.pictures,
        environment={"OPENAI_LOGDIR": "logs"},
        losses=False,
    ),
    Script(
        "LoRA gpt2_ft.py",
        "microsoft/LoRA",
        "examples/NLG/src/gpt2_ft.py",
        (
            *("--train_data", "train.jsonl", "--valid_data", "valid.jsonl", "--train_batch_size", "2"),
            *("--grad_acc", "2", "--valid_batch_size", "2", "--seq_len", "24", "--model_card", "gpt2.sm"),
            *("--platform", "local", "--clip", "0.0", "--lr", "0.0002", "--weight_decay", "0.01", "--correct_bias"),
            *("--adam_beta2", "0.999", "--scheduler", "linear", "--warmup_step", "2", "--max_epoch", "1"),
            *("--save_interval", "1000", "--lora_dim", "4", "--lora_alpha", "32", "--lora_dropout", "0.0"),
            *("--label_smooth", "0.1", "--work_dir", "out", "--random_seed", "110", "--log_interval", "1"),
        ),
        imports=(".",),
        needs=("loralib",),
        materials=materials.low_rank,
        environment={"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29539"},
        size=(
            Change(
                "examples/NLG/src/gpu.py",
                "        dist.init_process_group(backend='nccl')\n"
                "        local_rank = torch.distributed.get_rank()\n"
                "        torch.cuda.set_device(local_rank)\n"
                "        device = torch.device('cuda', local_rank)\n",
                "        dist.init_process_group(backend='gloo')\n"
                "        local_rank = torch.distributed.get_rank()\n"
                "        device = torch.device('cpu')\n",
                "no GPU",
            ),
            Change(
                "examples/NLG/src/gpu.py",
                "            model, device_ids=[args.local_rank], output_device=args.local_rank, \n",
                "            model,\n",
                "no GPU",
            ),
            Change("examples/NLG/src/gpt2_ft.py", "    lm_net = lm_net.cuda()\n", "", "no GPU"),
            Change(
                "examples/NLG/src/gpt2_ft.py",
                "            n_embd=768, n_layer=12, n_head=12, \n",
                "            n_embd=16, n_layer=2, n_head=2,\n"
                "            vocab_size_or_config_json_file=300, n_positions=32, n_ctx=32,\n",
                "a tiny model",
            ),
        ),
    ),
    Script(
        "labml optimizers/mnist_experiment.py",
        "labmlai/annotated_deep_learning_paper_implementations",
        "labml_nn/optimizers/mnist_experiment.py",
        imports=(".",),
        needs=("labml_nn/helpers", "labml_nn/__init__.py"),
        standins=("torchvision",),
        libraries=("labml",),
        losses=False,
        size=(
            Change("labml_nn/optimizers/mnist_experiment.py", "epochs: int = 10", "epochs: int = 1", "one epoch"),
            Change(
                "labml_nn/optimizers/mnist_experiment.py",
                "conf.inner_iterations = 10",
                "conf.inner_iterations = 2",
                "one epoch",
            ),
        ),
    ),
    Script(
        "keras demo_custom_torch_workflow",
        "keras-team/keras",
        "examples/demo_custom_torch_workflow.py",
        libraries=("keras",),
        materials=materials.digits,
        losses=False,
        steps=6,
        environment={"KERAS_BACKEND": "torch", "KERAS_HOME": "keras"},
        size=(
            Change(
                "examples/demo_custom_torch_workflow.py",
                "keras.datasets.mnist.load_data()",
                '([np.load("mnist.npz")[f"{name}_{part}"] for name in "xy"] for part in ("train", "test"))',
                "its data",
            ),
            Change("examples/demo_custom_torch_workflow.py", "batch_size = 64", "batch_size = 16", "a small batch"),
        ),
    ),
)

RESEARCH = (*BYOL, *TABLES, *MODELS)

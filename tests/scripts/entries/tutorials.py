"""Tutorials and notebooks that many training scripts begin as a copy of."""

from __future__ import annotations

from tests.scripts import materials
from tests.scripts.entry import Change, Script, seeded

YUNJEY = "yunjey/pytorch-tutorial"
TUTORIALS_OF_PYTORCH = "pytorch/tutorials"


BASICS = (
    Script(
        "yunjey linear_regression",
        YUNJEY,
        "tutorials/01-basics/linear_regression/main.py",
        libraries=("matplotlib",),
        losses=False,
    ),
    Script(
        "yunjey logistic_regression",
        YUNJEY,
        "tutorials/01-basics/logistic_regression/main.py",
        standins=("torchvision",),
        losses=False,
        size=(
            Change(
                "tutorials/01-basics/logistic_regression/main.py",
                "batch_size = 100",
                "batch_size = 16",
                "a small batch",
            ),
        ),
    ),
    Script(
        "yunjey deep_residual_network",
        YUNJEY,
        "tutorials/02-intermediate/deep_residual_network/main.py",
        standins=("torchvision",),
        steps=6,
        losses=False,
        size=(
            Change(
                "tutorials/02-intermediate/deep_residual_network/main.py",
                "num_epochs = 80\nbatch_size = 100",
                "num_epochs = 2\nbatch_size = 16",
                "few epochs of small batches",
            ),
            Change(
                "tutorials/02-intermediate/deep_residual_network/main.py",
                "    if (epoch+1) % 20 == 0:",
                "    if (epoch+1) % 1 == 0:",
                "few epochs of small batches",
            ),
            Change(
                "tutorials/02-intermediate/deep_residual_network/main.py",
                "model = ResNet(ResidualBlock, [2, 2, 2])",
                "model = ResNet(ResidualBlock, [1, 1, 1])",
                "a small network",
            ),
        ),
    ),
    Script(
        "yunjey recurrent_neural_network",
        YUNJEY,
        "tutorials/02-intermediate/recurrent_neural_network/main.py",
        standins=("torchvision",),
        losses=False,
        size=(
            Change(
                "tutorials/02-intermediate/recurrent_neural_network/main.py",
                "hidden_size = 128\n",
                "hidden_size = 16\n",
                "a small network",
            ),
            Change(
                "tutorials/02-intermediate/recurrent_neural_network/main.py",
                "batch_size = 100\n",
                "batch_size = 16\n",
                "a small batch",
            ),
        ),
    ),
    Script(
        "yunjey language_model",
        YUNJEY,
        "tutorials/02-intermediate/language_model/main.py",
        materials=materials.text,
        losses=False,
        size=(
            Change(
                "tutorials/02-intermediate/language_model/main.py",
                "embed_size = 128\nhidden_size = 1024\n",
                "embed_size = 16\nhidden_size = 16\n",
                "a small network",
            ),
            Change(
                "tutorials/02-intermediate/language_model/main.py",
                "num_samples = 1000     # number of words to be sampled\nbatch_size = 20\nseq_length = 30\n",
                "num_samples = 10\nbatch_size = 4\nseq_length = 8\n",
                "a small batch",
            ),
        ),
    ),
    Script(
        "yunjey variational_autoencoder",
        YUNJEY,
        "tutorials/03-advanced/variational_autoencoder/main.py",
        standins=("torchvision",),
        losses=False,
        size=(
            Change(
                "tutorials/03-advanced/variational_autoencoder/main.py",
                "num_epochs = 15\nbatch_size = 128",
                "num_epochs = 2\nbatch_size = 16",
                "few epochs of small batches",
            ),
        ),
    ),
)

PAGES = (
    Script(
        "tutorials: quickstart",
        TUTORIALS_OF_PYTORCH,
        "beginner_source/basics/quickstart_tutorial.py",
        standins=("torchvision",),
        steps=4,
        size=(
            seeded("beginner_source/basics/quickstart_tutorial.py"),
            Change(
                "beginner_source/basics/quickstart_tutorial.py", "batch_size = 64", "batch_size = 16", "a small batch"
            ),
            Change("beginner_source/basics/quickstart_tutorial.py", "epochs = 5", "epochs = 2", "few epochs"),
        ),
    ),
    Script(
        "tutorials: transfer_learning",
        TUTORIALS_OF_PYTORCH,
        "beginner_source/transfer_learning_tutorial.py",
        standins=("torchvision",),
        libraries=("matplotlib",),
        materials=materials.ants_and_bees,
        remark="batch norms of four small images make rounding grow: without oneDNN the script's own fourth loss is "
        "another by 6 %",
        changes=(
            Change(
                "beginner_source/transfer_learning_tutorial.py",
                "visualize_model(model_ft)\n",
                "# visualize_model(model_ft)\n",
                "no pictures with names by predicted classes between two trainings",
            ),
        ),
        steps=6,
        size=(
            seeded("beginner_source/transfer_learning_tutorial.py"),
            Change(
                "beginner_source/transfer_learning_tutorial.py",
                "exp_lr_scheduler,\n                       num_epochs=25)",
                "exp_lr_scheduler,\n                       num_epochs=2)",
                "few epochs",
            ),
            Change(
                "beginner_source/transfer_learning_tutorial.py",
                "                         exp_lr_scheduler, num_epochs=25)",
                "                         exp_lr_scheduler, num_epochs=2)",
                "few epochs",
            ),
            Change("beginner_source/transfer_learning_tutorial.py", "num_workers=4)", "num_workers=0)", "no workers"),
            Change(
                "beginner_source/transfer_learning_tutorial.py",
                "transforms.RandomResizedCrop(224)",
                "transforms.RandomResizedCrop(32)",
                "small images",
            ),
            Change(
                "beginner_source/transfer_learning_tutorial.py",
                "        transforms.Resize(256),\n        transforms.CenterCrop(224),",
                "        transforms.Resize(36),\n        transforms.CenterCrop(32),",
                "small images",
            ),
        ),
    ),
    Script(
        "tutorials: char_rnn_classification",
        TUTORIALS_OF_PYTORCH,
        "intermediate_source/char_rnn_classification_tutorial.py",
        libraries=("matplotlib",),
        materials=materials.names,
        changes=(
            Change(
                "intermediate_source/char_rnn_classification_tutorial.py",
                "self.labels_uniq = list(labels_set)",
                "self.labels_uniq = sorted(labels_set)",
                "classes in an order of their own, not in that of a set",
            ),
        ),
        losses=False,
        size=(
            Change(
                "intermediate_source/char_rnn_classification_tutorial.py",
                "n_hidden = 128",
                "n_hidden = 16",
                "a small network",
            ),
            Change(
                "intermediate_source/char_rnn_classification_tutorial.py",
                "n_epoch=27, learning_rate=0.15, report_every=5",
                "n_epoch=3, n_batch_size=8, learning_rate=0.15, report_every=1",
                "few epochs of small batches",
            ),
        ),
    ),
    Script(
        "tutorials: seq2seq_translation",
        TUTORIALS_OF_PYTORCH,
        "intermediate_source/seq2seq_translation_tutorial.py",
        libraries=("matplotlib",),
        materials=materials.translations,
        losses=False,
        steps=6,
        size=(
            Change(
                "intermediate_source/seq2seq_translation_tutorial.py",
                "hidden_size = 128\nbatch_size = 32",
                "hidden_size = 16\nbatch_size = 8",
                "a small network",
            ),
            Change(
                "intermediate_source/seq2seq_translation_tutorial.py",
                "decoder, 80, print_every=5, plot_every=5)",
                "decoder, 2, print_every=1, plot_every=1)",
                "few epochs",
            ),
        ),
    ),
    Script(
        "makemore",
        "karpathy/makemore",
        "makemore.py",
        (
            *("--max-steps", "5", "--num-workers", "0", "--n-layer", "1", "--n-head", "2", "--n-embd", "16"),
            *("--batch-size", "8"),
        ),
        needs=("names.txt",),
        libraries=("tensorboard",),
    ),
    Script(
        "nn-zero-to-hero makemore part 2",
        "karpathy/nn-zero-to-hero",
        "lectures/makemore/makemore_part2_mlp.ipynb",
        materials=materials.first_names,
        libraries=("matplotlib",),
        optimizer=False,
        size=(
            Change(
                "lectures/makemore/makemore_part2_mlp.py", "for i in range(200000):", "for i in range(5):", "few steps"
            ),
            Change(
                "lectures/makemore/makemore_part2_mlp.py",
                "X = torch.tensor(X)\nY = torch.tensor(Y)\n\nX.shape",
                "X = torch.tensor(X[:32])\nY = torch.tensor(Y[:32])\n\nX.shape",
                "the five words of the video",
            ),
        ),
    ),
    Script(
        "udacity Character_Level_RNN",
        "udacity/deep-learning-v2-pytorch",
        "recurrent-neural-networks/char-rnn/Character_Level_RNN_Solution.ipynb",
        materials=materials.anna,
        changes=(
            Change(
                "recurrent-neural-networks/char-rnn/Character_Level_RNN_Solution.py",
                "chars = tuple(set(text))",
                "chars = tuple(sorted(set(text)))",
                "letters in an order of their own, not in that of a set",
            ),
        ),
        losses=False,
        size=(
            Change(
                "recurrent-neural-networks/char-rnn/Character_Level_RNN_Solution.py",
                "n_hidden=512\n",
                "n_hidden=16\n",
                "a small network",
            ),
            Change(
                "recurrent-neural-networks/char-rnn/Character_Level_RNN_Solution.py",
                "batch_size = 128\nseq_length = 100\nn_epochs = 20 ",
                "batch_size = 4\nseq_length = 20\nn_epochs = 1 ",
                "one epoch of small batches",
            ),
        ),
    ),
)

TUTORIALS = (*BASICS, *PAGES)

"""Images and sounds as the arrays that a model reads, by the preparation that lies in the model's folder."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.training.huggingface.library import library
from counterfoil_core.base.arrays import Array
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError
from counterfoil_core.base.inputs import read_input

MAX_FILE_BYTES = 2**30
_MODES = {1: "L", 3: "RGB"}
_SIXTEEN_BITS = 2
"""Bytes of a sample."""


@dataclass(frozen=True)
class Normalisation:
    """What a model of images does with a byte before it reads it: ``byte * factor + shift``, for each channel.

    The order holds the bytes, a quarter of the memory, and its program does this.
    """

    factor: Tensor
    shift: Tensor

    def __call__(self, pixels: Tensor) -> Tensor:
        """Normalise ``[rows, channels, height, width]``."""
        return pixels.to(torch.float32) * self.factor + self.shift


def images(
    files: tuple[Path, ...], processor: Any, channels: int, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, tuple[Array, Normalisation]]:
    """Read images, and cut and scale them as the processor does.

    Args:
        files: The images.
        processor: An image processor of transformers.
        channels: How many the model reads.
        cancel: Looked at between images.

    Yields:
        Images done, and how many there are.

    Returns:
        uint8 ``[images, channels, height, width]``, and what is left to be done.

    Raises:
        DataError: An image cannot be read, or the processor does something else besides.
    """
    pillow, turning = library("PIL.Image", "An image"), library("PIL.ImageOps", "An image")
    mode = _MODES.get(channels)
    if mode is None:
        raise DataError(
            f"The model reads images of {channels} channels; images in files have 1 or 3.",
            remedy="Write a job of your own with its arrays: counterfoil order --from.",
        )

    def picture(path: Path) -> Any:
        data = read_input(path, "an image", DataError, most=MAX_FILE_BYTES)
        try:
            with pillow.open(io.BytesIO(data)) as file:
                return turning.exif_transpose(file).convert(mode)
        except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
            raise DataError(
                f"{path} cannot be read as an image.", remedy="Save it as PNG, or leave it out.", detail=str(error)
            ) from error

    def pixels(path: Path) -> Array:
        given = processor(picture(path), do_rescale=False, do_normalize=False, return_tensors="np")
        return np.asarray(given["pixel_values"][0])

    found = yield from _all(files, pixels, cancel)
    normal = _normalisation(processor, channels)
    wanted = np.asarray(processor(picture(files[0]), return_tensors="np")["pixel_values"][0])
    if found.dtype != np.uint8 or not np.allclose(normal(torch.from_numpy(found[:1]))[0].numpy(), wanted, atol=1e-4):
        raise DataError(
            f"The model's {type(processor).__name__} does more with an image than to cut, scale and normalise it.",
            remedy="Prepare the images with it, and write a job of your own with them: counterfoil order --from.",
        )
    return found, normal


def sounds(
    files: tuple[Path, ...], extractor: Any, cancel: CancelToken | None
) -> Generator[tuple[int, int], None, Array]:
    """Read sounds as features, by the extractor.

    Args:
        files: WAV files of 16 bits, at the extractor's rate.
        extractor: A feature extractor of transformers.
        cancel: Looked at between sounds.

    Yields:
        Sounds done, and how many there are.

    Returns:
        float32 ``[sounds, bands, frames]``.

    Raises:
        DataError: A sound cannot be read, or is longer than the model hears.
    """
    rate = int(extractor.sampling_rate)
    longest = getattr(extractor, "n_samples", None)

    def features(path: Path) -> Array:
        samples = _samples(path, rate)
        if longest is not None and len(samples) > longest:
            raise DataError(
                f"{path} has {len(samples) / rate:.1f} seconds; the model hears {longest / rate:g} at once.",
                remedy="Cut it, and its text, into shorter ones.",
            )
        given = extractor(samples, sampling_rate=rate, return_tensors="np")
        return np.asarray(given["input_features"][0], np.float32)

    return (yield from _all(files, features, cancel))


def _all(
    files: tuple[Path, ...], read: Callable[[Path], Array], cancel: CancelToken | None
) -> Generator[tuple[int, int], None, Array]:
    """Read each file, to arrays of one shape."""
    found: list[Array] = []
    for number, path in enumerate(files):
        if cancel is not None:
            cancel.check()
        yield number, len(files)
        found.append(read(path))
        if found[-1].shape != found[0].shape:
            raise DataError(
                f"{path} becomes an array of shape {found[-1].shape}, and {files[0]} one of {found[0].shape}.",
                remedy="Rows of an order have one shape: give files of one size.",
            )
    return np.stack(found)


def _normalisation(processor: Any, channels: int) -> Normalisation:
    scale = float(processor.rescale_factor) if processor.do_rescale else 1.0
    mean, deviation = (
        np.broadcast_to(np.asarray(value if processor.do_normalize else plain, np.float64), (channels,))
        for value, plain in ((processor.image_mean, 0.0), (processor.image_std, 1.0))
    )
    factor, shift = (
        torch.from_numpy(value).float().view(1, -1, 1, 1) for value in (scale / deviation, -mean / deviation)
    )
    return Normalisation(factor, shift)


def _samples(path: Path, rate: int) -> Array:
    """The mean of a sound's channels, from -1 to below 1."""
    data = read_input(path, "a sound", DataError, most=MAX_FILE_BYTES)
    remedy = f"Convert it: ffmpeg -i FILE -ar {rate} -ac 1 -c:a pcm_s16le OUT.wav"
    try:
        with wave.open(io.BytesIO(data)) as file:
            channels, width, found = file.getnchannels(), file.getsampwidth(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise DataError(f"{path} is no WAV file of 16 bits.", remedy=remedy, detail=str(error)) from error
    if width != _SIXTEEN_BITS or found != rate or not frames:
        raise DataError(
            f"{path} has {len(frames)} bytes of {found} samples a second of {8 * width} bits; the model hears {rate} "
            "of 16 bits.",
            remedy=remedy,
        )
    samples = np.frombuffer(frames, "<i2").reshape(-1, channels).astype(np.float32)
    return np.asarray(samples.mean(1) / 2**15, np.float32)

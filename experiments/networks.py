"""The small convolutional network of the image experiments; all methods of one share it."""

from __future__ import annotations

from torch import nn


def small_cnn(shape: tuple[int, ...], outputs: int, width: int = 16) -> nn.Sequential:
    """Three convolutions, the last as high as the picture, and a linear layer.

    For pictures (channels, height, width): each square of a wide one gets 64 features of its own.
    Strides in place of pooling keep it cheap on a CPU.
    """
    channels, high, wide = shape
    side = high // 4
    return nn.Sequential(
        nn.Conv2d(channels, width, 6, stride=4, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(2 * width, 64, side, stride=side),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * (wide // high), outputs),
    )

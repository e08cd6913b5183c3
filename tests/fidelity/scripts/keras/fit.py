"""Trains a Keras 3 model on the torch backend by compile and fit."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(40, 6)).astype("float32")
y = (x.sum(1) > 0).astype("int64")
model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(16, activation="relu", name="hidden"),
        keras.layers.Dense(2, name="logits"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(x, y, batch_size=10, epochs=2, verbose=0)
print(history.history["loss"])
model.save_weights("keras.weights.h5")

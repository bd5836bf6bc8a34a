"""Models: what is stored in the model bucket."""

from typing import Annotated, Literal

from pydantic import StringConstraints

from dpd.catalog import model_architectures
from dpd.config.base import Config

ModelName = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$", max_length=63)
]
Folder = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*$")
]


class Model(Config):
    """Weights of one model in the environment's model bucket."""

    name: ModelName
    """Such as `Llama-3.3-70B-Instruct`. Clients send `/opt/ml/model` as `model` instead."""
    architecture: str
    """Name in the catalog, such as `llama-3.3-70b`."""
    location: Folder | None = None
    """Folder in the model bucket. Default: the name."""
    dtype: Literal["bfloat16", "float16"] = "bfloat16"
    """Type of the activations and, without quantization, of the weights."""
    quantization: Literal["fp8", "mxfp4", "none"] | None = None
    """How the stored weights are quantized. Default: as the model was published."""

    @property
    def prefix(self) -> str:
        """Folder in the model bucket, without slashes at its ends."""
        return self.location or self.name

    @property
    def weight_format(self) -> str:
        """Format of the stored weights: a quantization, or the type of all of them."""
        if self.quantization is None:
            return model_architectures()[self.architecture].quantization or self.dtype
        return self.dtype if self.quantization == "none" else self.quantization

"""Language models as proposers: any endpoint or command, every call recorded, every reply read with suspicion."""

from agents.language_model.agent import NAME, LanguageModelAgent
from agents.language_model.call import Model, ModelFailed, Reply, Request

__all__ = ["NAME", "LanguageModelAgent", "Model", "ModelFailed", "Reply", "Request"]

"""A training run: optimiser, schedule, averaged weights, and checkpoints from which it goes on as if never stopped."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn


class Run:
    """All that a checkpoint holds. `model` is any module with an encoder below it; word pieces stay as they are."""

    def __init__(self, model: nn.Module, encoder: nn.Module, steps: int, args: argparse.Namespace):
        self.frozen = encoder.get_input_embeddings().weight
        self.frozen.requires_grad = False
        known = set(map(id, encoder.parameters()))
        below = [p for p in encoder.parameters() if p.requires_grad]
        heads = [p for p in model.parameters() if id(p) not in known]
        self.model, self.parameters, self.decay = model, below + heads, args.average
        self.optimizer = torch.optim.AdamW(
            [{"params": below, "lr": args.encoder_rate}, {"params": heads, "lr": args.rate}],
            weight_decay=0.01,
            fused=True,
        )
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / args.warmup, max(0.02, 1 - step / steps))
        )
        self.average = {name: value.detach().clone() for name, value in self._moving()}
        self.best, self.log = 0.0, list[dict[str, float]]()

    def _moving(self) -> Iterator[tuple[str, torch.Tensor]]:
        for name, value in self.model.state_dict().items():
            if value.is_floating_point() and value.data_ptr() != self.frozen.data_ptr():
                yield name, value

    @property
    def done(self) -> int:
        """Steps so far."""
        return int(self.schedule.last_epoch)

    def step(self, *losses_of: Callable[[], torch.Tensor]) -> float:
        """One update of the weights and of their running average, which forgets the first weights quickly.

        Several losses are those of the parts of a batch: they are computed side by side, and their mean counts.
        """
        with ThreadPoolExecutor(len(losses_of)) as pool:
            parts = list(pool.map(self._gradients, losses_of))
        with self._threads_of(len(losses_of)):
            for parameter, *found in zip(self.parameters, *(gradients for _, gradients in parts), strict=True):
                known = [gradient for gradient in found if gradient is not None]
                parameter.grad = sum(known[1:], known[0]).div_(len(parts)) if known else None
            torch.nn.utils.clip_grad_norm_(self.parameters, 5.0)
            self.optimizer.step()
            self.schedule.step()
            decay = min(self.decay, (1 + self.done) / (10 + self.done))
            moving = dict(self._moving())
            torch._foreach_lerp_([self.average[name] for name in moving], list(moving.values()), 1 - decay)
        return sum(loss for loss, _ in parts) / len(parts)

    @staticmethod
    @contextmanager
    def _threads_of(workers: int) -> Iterator[None]:
        """The threads of all workers for what follows, while they rest."""
        threads = torch.get_num_threads()
        torch.set_num_threads(threads * workers)
        yield
        torch.set_num_threads(threads)

    def _gradients(self, loss_of: Callable[[], torch.Tensor]) -> tuple[float, tuple[torch.Tensor | None, ...]]:
        """A loss and its gradients, apart from those of other threads."""
        loss = loss_of()
        return loss.item(), torch.autograd.grad(loss, self.parameters, allow_unused=True)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """The model with its averaged weights, for as long as this lasts."""
        current = {name: value.clone() for name, value in self._moving()}
        self.model.load_state_dict(self.average, strict=False)
        yield
        self.model.load_state_dict(current, strict=False)

    def save(self, path: Path) -> None:
        """Written beside the old one first, so that there is always a whole one."""
        state = {
            "model": dict(self._moving()),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "log": self.log,
            "best": self.best,
            "torch_random": torch.get_rng_state(),
        }
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").replace(path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint; the frozen word pieces come from the encoder, as they did when it was begun."""
        state = torch.load(path, weights_only=True)  # runs no code of the file
        self.model.load_state_dict(state["model"], strict=False)
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.average, self.best, self.log = state["average"], state["best"], state["log"]
        torch.set_rng_state(state["torch_random"])

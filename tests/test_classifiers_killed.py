"""A fine-tuning killed at its worst moments goes on to the very weights of one that was not."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_encoder import build_encoder, sentences

from voirdire.errors import InputError

torch = pytest.importorskip("torch", reason="pip install 'voirdire[hf]'")
pytest.importorskip("transformers", reason="pip install 'voirdire[hf]'")

from killed_training import STEPS, classifier, data  # noqa: E402 - needs torch

SCRIPT = Path(__file__).with_name("killed_training.py")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """The folder of a tiny encoder."""
    before = torch.get_num_threads()
    yield build_encoder(tmp_path_factory.mktemp("encoder"), sentences(400)[0])
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def straight(encoder):
    """A training that nothing stopped."""
    learnt, dev = data()
    found = classifier(encoder).fit(*learnt, validation=dev)
    assert found.history.stopped == "early"  # else patience is never used up
    assert found.history.best > 3
    return found


def killed(encoder, folder, what, at):
    """Train in a process of its own until it kills itself; what it leaves behind."""
    command = [sys.executable, str(SCRIPT), encoder, str(folder), what, str(at)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return torch.load(folder / "checkpoint.pt", weights_only=True)["history"]


def goes_on(encoder, folder, straight):
    """Train to the end in the folder, and compare with the training that nothing stopped."""
    learnt, dev = data()
    epochs = []
    again = classifier(encoder).fit(
        *learnt, validation=dev, folder=folder, progress=lambda _, at, of: epochs.append(at)
    )
    assert again.history == straight.history
    one, two = (each.encoder.model.state_dict() for each in (again, straight))
    assert all(torch.equal(one[name], two[name]) for name in two)
    return epochs


@pytest.mark.parametrize("best", [True, False])
def test_killed_while_a_checkpoint_is_written(tmp_path, encoder, straight, best):
    # Each epoch writes its weights if they are the best so far, and then its state.
    bests = [
        max(straight.history.f1[:at], default=-1.0) < f1
        for at, f1 in enumerate(straight.history.f1)
    ]
    epoch = next(at for at in range(1, len(bests)) if bests[at])
    files = sum(1 + new for new in bests[:epoch])
    left = killed(encoder, tmp_path, "write", files + (1 if best else 2))
    assert len(left["f1"]) == epoch  # the state before is whole
    name = f"best-{epoch + 1}.pt.draft" if best else "checkpoint.pt.draft"
    assert (tmp_path / name).is_file()
    assert goes_on(encoder, tmp_path, straight)[0] == epoch + 1
    assert not list(tmp_path.glob("*.draft"))


def test_killed_inside_an_epoch_with_patience_part_used(tmp_path, encoder, straight):
    best = straight.history.best
    # Half an epoch is lost, and done again.
    left = killed(encoder, tmp_path, "step", (best + 3) * STEPS + 4)
    assert (left["best"], len(left["f1"]), left["stopped"]) == (best, best + 3, "")
    # Of five epochs without a better F1 three are done: two are left, not five.
    assert goes_on(encoder, tmp_path, straight) == [best + 4, best + 5]


@pytest.mark.parametrize(
    "state",
    [
        {"model": {}, "optimizer": {}, "epoch": 3},  # as another program, or version, writes one
        {"model": {}, "optimizer": {}, "scaler": {}, "history": {"f1": [0.5]}, "identity": "x"},
        [1, 2],
    ],
)
def test_a_checkpoint_of_another_kind_is_refused(tmp_path, encoder, state):
    learnt, dev = data()
    torch.save(state, tmp_path / "checkpoint.pt")
    message = r"checkpoint\.pt: holds no training that this version can go on with"
    with pytest.raises(InputError, match=message):
        classifier(encoder).fit(*learnt, validation=dev, folder=tmp_path)

import gc
import os

import pytest

from polyad.engine.disk.temporary import _remove, in_temporary_folder


class Owner:
    def __init__(self, folder):
        self.file = folder / "kept"
        self.file.write_text("")


def test_a_folder_goes_with_what_lies_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    owner = in_temporary_folder(Owner)
    assert owner.file.exists()
    del owner
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_goes_on_an_error(tmp_path, monkeypatch, error):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fails(folder):
        Owner(folder)
        raise error

    with pytest.raises(error):
        in_temporary_folder(fails)
    assert list(tmp_path.iterdir()) == []


def test_a_forked_process_leaves_the_folder_to_its_parent(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    _remove(folder, os.getpid() + 1)
    assert folder.exists()
    _remove(folder, os.getpid())
    assert not folder.exists()

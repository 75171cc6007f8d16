"""What mkdocs calls while it builds the site: adds the generated pages, and mends links into the repository.

mkdocs.yml names it as a hook. The page of commands asks the program `luminal`: the one that `extra: program:` names,
or the one that was built last.
"""
import pathlib
import sys

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import links  # noqa: E402
import tables  # noqa: E402
from api_reference import Reference  # noqa: E402
from project import ROOT, newest_program  # noqa: E402


def find_program(config):
    named = config.extra.get("program")
    program = pathlib.Path(named) if named else newest_program()
    if program is None or not program.is_file():
        raise PluginError(f"there is no program {named or 'luminal in build/*/apps/cli'}, which says what commands there "
                          "are: cmake --preset dev && cmake --build --preset dev --target luminal_program")
    return program


def on_files(files, config):
    config.extra["reference"] = reference = Reference()
    pages = {**tables.markdown_files(find_program(config)), **reference.markdown_files()}
    for path, page in links.ROOT_PAGES.items():
        pages[page] = links.mended((ROOT / path).read_text(), path, page, reference)
    for page, markdown in pages.items():
        files.append(File.generated(config, page, content=markdown))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.generated_by is not None:
        return markdown
    return links.mended(markdown, f"docs/{page.file.src_uri}", page.file.src_uri, config.extra["reference"])

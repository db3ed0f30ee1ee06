"""The hooks of voirdire. `register(name, "module:attribute")` names a thing; use resolves it."""

import pluggy

hookspec, hookimpl = pluggy.HookspecMarker("voirdire"), pluggy.HookimplMarker("voirdire")


class Hooks:
    @hookspec
    def voirdire_register_models(self, register: object) -> None:
        """Chat models, named by the prefix before the colon (`openai` in `openai:gpt-4o`)."""

    @hookspec
    def voirdire_register_judges(self, register: object) -> None:
        """Judges: they score responses on attributes, or prefer one of two."""

    @hookspec
    def voirdire_register_annotators(self, register: object) -> None:
        """Annotators: they label items."""

    @hookspec
    def voirdire_register_generators(self, register: object) -> None:
        """Generators: they produce a system's response to an item."""

    @hookspec
    def voirdire_register_classifiers(self, register: object) -> None:
        """Classifiers: they predict labels and may be trained."""

    @hookspec
    def voirdire_register_selectors(self, register: object) -> None:
        """Selectors of few-shot examples."""

    @hookspec
    def voirdire_register_tools(self, register: object) -> None:
        """Tools that an agent judge may call."""

    @hookspec
    def voirdire_register_benchmarks(self, register: object) -> None:
        """Benchmarks: each returns a Study and may review its Examination."""

    @hookspec
    def voirdire_register_probes(self, register: object) -> None:
        """Probes: a change of a response or request, and what a sound judge makes of it."""

    @hookspec
    def voirdire_register_optimizers(self, register: object) -> None:
        """Optimizers: they look for better instructions of a judge."""

    @hookspec
    def voirdire_register_makers(self, register: object) -> None:
        """Makers of models, and by what the names of their models begin."""

    @hookspec
    def voirdire_register_readers(self, register: object) -> None:
        """Readers: they turn a file of another tool into tidy ratings."""

    @hookspec
    def voirdire_register_executors(self, register: object) -> None:
        """Executors: where partial results are computed, named by what stands before `://`."""

    @hookspec
    def voirdire_register_commands(self, app: object) -> None:
        """Further commands for the typer application."""

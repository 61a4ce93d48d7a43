//! How scripts end: exit codes, uncaught errors, and limits.

use super::{failing, fails, folder, printing, run_in};

failing! {
    an_error_that_nobody_caught_is_shown_with_its_place:
        "function f() {\n  null.x;\n}\nf();"
        => 1, ["Uncaught TypeError: ", "\n    at f (script.js:2:3)\n    at script.js:4:1\n"];
    a_syntax_error_has_line_and_column:
        "const a = 1;\nconst = 2;"
        => 1, ["Uncaught SyntaxError: ", "    at script.js:2:7\n"];
    any_value_can_be_thrown:
        "throw { a: 1 }"
        => 1, ["Uncaught { a: 1 }\n"];
    a_rejection_that_nobody_handles_is_an_error:
        "Promise.reject(new Error('lost')); await 1; setTimeout(() => console.error('late'))"
        => 1, ["Uncaught Error: lost\n    at script.js:1:"];
    an_error_in_a_timer_is_an_error:
        "setTimeout(() => { throw new RangeError('x') }); setTimeout(() => console.error('never'), 5)"
        => 1, ["Uncaught RangeError: x\n"];
    exit_sets_the_code:
        "process.exit(3)"
        => 3, [""];
    exit_code_is_for_the_end:
        "process.exitCode = 4; console.error('goes on')"
        => 4, ["goes on"];
    a_promise_that_nothing_settles_is_reported:
        "await new Promise(() => {})"
        => 13, ["awaits a promise that nothing settles"];
    an_error_that_cannot_be_shown_is_an_error_too:
        "const e = { get [Symbol.for('nodejs.util.inspect.custom')]() { throw 1 } }; throw e"
        => 1, ["Uncaught exception, which cannot be shown"];
    endless_memory_is_an_error:
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20))"
        => 1, ["Uncaught InternalError: out of memory"];
    a_script_with_a_null_byte_is_an_error:
        "const a = '\0';\nnull.x"
        => 1, ["Uncaught "];
}

printing! {
    an_empty_script_does_nothing: "" => "";
    a_byte_order_mark_is_passed_over:
        "\u{feff}console.log('mark')" => "mark";
    a_first_line_for_the_shell_is_passed_over:
        "#!/usr/bin/env node\nconsole.log('line')" => "line";
    endless_recursion_can_be_caught:
        "let n = 0; function f() { n++; f() } try { f() } catch (e) { console.log(e.name, n > 30) }"
        => "RangeError true";
    deep_json_can_be_caught:
        "try { JSON.parse('['.repeat(1e6)) } catch (e) { console.log(e.name) }"
        => "RangeError";
    deep_values_are_cut:
        "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; console.log(d)"
        => "[ [ [ [Array] ] ] ]";
    a_rejection_may_be_handled_later:
        "const p = Promise.reject(1); await null; p.catch(() => console.log('caught'))"
        => "caught";
    listeners_hear_of_the_end:
        "process.on('exit', (code) => console.log('exit', code)); console.log('first')"
        => "first\nexit 0";
}

#[test]
fn nothing_catches_an_exit() {
    let source = "async function f() { try { process.exit(5) } catch { console.log('caught') } finally { console.log('finally') } }
        try { f(); console.log('after') } finally { console.log('finally') }";
    let folder = folder(&[]);
    let ran = run_in(folder.path(), source, &[]);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str(), ran.code),
        ("", "", 5)
    );
}

#[test]
fn an_exit_in_a_timer_or_an_imported_module_ends_the_script() {
    for source in [
        "setTimeout(() => process.exit(6)); setInterval(() => {}, 10)",
        "import './a.js'; console.log('never')",
    ] {
        let folder = folder(&[("a.js", "import p from 'process'; await null; p.exit(6)")]);
        let ran = run_in(folder.path(), source, &[]);
        assert_eq!(
            (ran.stdout.as_str(), ran.code),
            ("", 6),
            "{source}: {}",
            ran.stderr
        );
    }
}

#[test]
fn output_before_an_error_is_kept() {
    let folder = folder(&[]);
    let ran = run_in(
        folder.path(),
        "console.log('first'); throw new Error('then')",
        &[],
    );
    assert_eq!(ran.stdout, "first\n");
    fails(
        &[],
        "process.stderr.write('a'); process.stdout.write('b')",
        0,
        &["a"],
    );
}

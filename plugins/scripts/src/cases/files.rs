//! The functions for files.

use std::fs;

use super::{folder, printing, run_in};

printing! {
    a_file_is_written_appended_to_and_read:
        "import fs from 'node:fs'; fs.writeFileSync('a', 'ö'); fs.appendFileSync('a', '!'); console.log(fs.readFileSync('a', 'utf8'), fs.readFileSync('a'))"
        => "ö! <Buffer c3 b6 21>";
    bytes_are_written_as_they_are:
        "import fs from 'fs'; fs.writeFileSync('a', new Uint8Array([0, 255, 128])); console.log([...fs.readFileSync('a')], fs.readFileSync('a').toString('hex'))"
        => "[ 0, 255, 128 ] 00ff80";
    promises_do_the_same:
        "import { readFile, writeFile } from 'fs/promises'; await writeFile('a', 'x'); console.log(await readFile('a', { encoding: 'utf8' }), await readFile('b').catch((e) => e.code))"
        => "x ENOENT";
    callbacks_do_the_same:
        "import fs from 'fs'; fs.writeFile('a', 'x', (error) => fs.readFile('a', 'utf8', (error, text) => console.log(error, text))); console.log('first')"
        => "first\nnull x";
    an_error_has_its_code_call_and_path:
        "import fs from 'fs'; try { fs.readFileSync('x') } catch (e) { console.log(e.message, e.code, e.errno, e.syscall, e.path, e instanceof Error) }"
        => "ENOENT: no such file or directory, open 'x' ENOENT -2 open x true";
    an_error_about_two_paths_has_both:
        "import fs from 'fs'; try { fs.renameSync('x', 'y') } catch (e) { console.log(e.message, e.dest) }"
        => "ENOENT: no such file or directory, rename 'x' -> 'y' y";
    each_failure_has_its_own_code [("d/f", "")]:
        "import fs from 'fs'; for (const f of [() => fs.mkdirSync('d'), () => fs.rmdirSync('d'), () => fs.readdirSync('d/f'), () => fs.readFileSync('d'), () => fs.writeFileSync('d/f', '', { flag: 'wx' }), () => fs.rmSync('d'), () => fs.accessSync('x')]) try { f() } catch (e) { console.log(e.code, e.syscall) }"
        => "EEXIST mkdir\nENOTEMPTY rmdir\nENOTDIR scandir\nEISDIR open\nEEXIST open\nERR_FS_EISDIR rm\nENOENT access";
    folders_are_made_and_listed:
        "import fs from 'fs'; console.log(fs.mkdirSync('a/b/c', { recursive: true }).endsWith('/a')); fs.writeFileSync('a/f', ''); console.log(fs.readdirSync('a'), fs.readdirSync('.', { recursive: true }), fs.readdirSync('a', { withFileTypes: true }).map((e) => [e.name, e.isDirectory(), e.isFile()]))"
        => "true\n[ 'b', 'f' ] [ 'a', 'a/b', 'a/b/c', 'a/f' ] [ [ 'b', true, false ], [ 'f', false, true ] ]";
    stats_tell_kinds_and_sizes [("f", "12345")]:
        "import fs from 'fs'; const s = fs.statSync('f'); console.log(s.isFile(), s.isDirectory(), s.size, s.mtime instanceof Date, s.mtimeMs > 0, fs.statSync('.').isDirectory(), fs.statSync('x', { throwIfNoEntry: false }))"
        => "true false 5 true true true undefined";
    files_are_renamed_copied_and_removed [("a", "1")]:
        "import fs from 'fs'; fs.renameSync('a', 'b'); fs.copyFileSync('b', 'c'); fs.unlinkSync('b'); console.log(fs.existsSync('a'), fs.existsSync('b'), fs.readFileSync('c', 'utf8')); fs.rmSync('c'); fs.rmSync('c', { force: true }); console.log(fs.readdirSync('.'))"
        => "false false 1\n[]";
    folders_are_copied_and_removed_with_all_that_is_in_them [("a/b/f", "1")]:
        "import fs from 'fs'; fs.cpSync('a', 'z', { recursive: true }); fs.rmSync('a', { recursive: true }); console.log(fs.readdirSync('.', { recursive: true })); try { fs.cpSync('z', 'z/in', { recursive: true }) } catch (e) { console.log(e.code) }"
        => "[ 'z', 'z/b', 'z/b/f' ]\nERR_FS_CP_EINVAL";
    links_are_made_and_read [("f", "1")]:
        "import fs from 'fs'; fs.symlinkSync('f', 'l'); console.log(fs.readlinkSync('l'), fs.lstatSync('l').isSymbolicLink(), fs.statSync('l').isFile(), fs.readFileSync('l', 'utf8'))"
        => "f true true 1";
    globs_find_files [("a.js", ""), ("d/b.js", ""), ("d/c.ts", ""), ("d/e/f.js", "")]:
        "import fs from 'fs'; for (const p of ['*.js', '**/*.js', 'd/*.{js,ts}', 'd/**', '[a-b].js', '?.js']) console.log(fs.globSync(p))"
        => "[ 'a.js' ]\n[ 'a.js', 'd/b.js', 'd/e/f.js' ]\n[ 'd/b.js', 'd/c.ts' ]\n[ 'd/b.js', 'd/c.ts', 'd/e', 'd/e/f.js' ]\n[ 'a.js' ]\n[ 'a.js' ]";
    a_path_has_to_be_one:
        "import fs from 'fs'; for (const p of [undefined, 1, 'a\\0b']) try { fs.readFileSync(p) } catch (e) { console.log(e.name, e.code) }"
        => "TypeError ERR_INVALID_ARG_TYPE\nTypeError ERR_INVALID_ARG_TYPE\nTypeError ERR_INVALID_ARG_VALUE";
}

#[test]
fn what_a_script_changes_is_changed_in_its_folder() {
    let folder = folder(&[("old", "1")]);
    let source =
        "const fs = require('fs'); fs.renameSync('old', 'new'); fs.writeFileSync('more', 'x')";
    assert_eq!(run_in(folder.path(), source, &[]).code, 0);
    assert_eq!(
        fs::read_to_string(folder.path().join("new")).expect("it is there"),
        "1"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("more")).expect("it is there"),
        "x"
    );
    assert!(!folder.path().join("old").exists());
}

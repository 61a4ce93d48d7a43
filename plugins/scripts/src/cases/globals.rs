//! The globals, and the modules that are not about files.

use super::printing;

printing! {
    arguments_come_after_the_names: "console.log(process.argv.slice(2), process.argv.length)" => "[ 'one', 'two' ] 4";
    the_platform_is_wasi: "console.log(process.platform, typeof process.env, process.cwd().startsWith('/'))" => "wasi object true";
    standard_output_takes_parts: "process.stdout.write('a'); process.stdout.write(Buffer.from('b\\n'))" => "ab";
    timers_run_in_order_without_waiting:
        "setTimeout(() => console.log('late'), 60000); const t = setInterval((x) => { console.log(x); clearInterval(t) }, 10, 'once'); setImmediate(() => console.log('immediate')); queueMicrotask(() => console.log('micro')); clearTimeout(setTimeout(() => console.log('never')))"
        => "micro\nimmediate\nonce\nlate";
    text_is_encoded_and_decoded:
        "console.log(new TextEncoder().encode('ü€'), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xbc, 0xff]))); try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { console.log(e.name) }"
        => "Uint8Array(5) [ 195, 188, 226, 130, 172 ] ü\u{fffd}\nTypeError";
    buffers_know_encodings:
        "console.log(Buffer.from('aGk', 'base64').toString(), Buffer.from('hi').toString('base64'), Buffer.from('6869', 'hex') + '', Buffer.from('é', 'latin1'), Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString(), Buffer.isBuffer(Buffer.alloc(1)), Buffer.byteLength('é'))"
        => "hi aGk= hi <Buffer e9> ab true 2";
    structured_clones_are_deep:
        "const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]) }; a.self = a; const b = structuredClone(a); console.log(b.self === b, b.m.get(1) !== a.m.get(1), b.d.getTime()); try { structuredClone(() => 1) } catch (e) { console.log(e.name) }"
        => "true true 0\nDataCloneError";
    paths_are_taken_apart_and_put_together:
        "const p = require('path'); console.log(p.join('a', '..', '/b/'), p.resolve('/a', '../b', './c'), p.dirname('/a/b/'), p.basename('a/b.txt', '.txt'), p.extname('.a.b'), p.relative('/a/b', '/a/c/d'), p.normalize('./a//b/../'), p.isAbsolute('a')); console.log(p.parse('/x/y.tar.gz'), p.format({ dir: '/x', name: 'y', ext: 'z' }), p.sep, p.posix === p)"
        => "b/ /b/c /a b .b ../c/d a/ false\n{ root: '/', dir: '/x', base: 'y.tar.gz', ext: '.gz', name: 'y.tar' } /x/y.z / true";
    assertions_compare:
        "import assert, { strictEqual } from 'node:assert'; strictEqual(1, 1); assert.deepStrictEqual({ a: [new Map([[1, 2]])] }, { a: [new Map([[1, 2]])] }); assert.throws(() => { throw new TypeError('x') }, TypeError); for (const f of [() => assert(0), () => assert.equal(1, 2, 'mine'), () => assert.deepEqual([1], [2])]) try { f() } catch (e) { console.log(e.name, e.code, e.message.split('\\n')[0]) }"
        => "AssertionError ERR_ASSERTION The expression evaluated to a falsy value\nAssertionError ERR_ASSERTION mine\nAssertionError ERR_ASSERTION Expected values to be loosely deep-equal:";
    values_are_formatted_on_request:
        "import { inspect, format } from 'util'; console.log(inspect({ a: { b: { c: { d: 1 } } } }, { depth: null }) === inspect({ a: { b: { c: { d: 1 } } } }, false, null), inspect('x'), format('%s=%d', 'a', 1))"
        => "true 'x' a=1";
    time_passes: "const a = performance.now(); for (let i = 0; i < 1e5; i++); console.log(performance.now() > a, typeof Date.now())" => "true number";
    a_stack_has_the_message_first: "console.log(new Error('x').stack.split('\\n'))" => "[ 'Error: x', '    at script.js:1:17' ]";
}

//! What `console` prints, and how values are shown.

use super::{fails, printing};

printing! {
    nested_values_are_shown_to_a_depth_of_two:
        "console.log({ a: 1, b: [1, { c: { d: { e: 1 } } }] })"
        => "{ a: 1, b: [ 1, { c: [Object] } ] }";
    texts_are_quoted_only_inside_of_values:
        "console.log('a', ['a', \"it's\", 'x\\ny'])"
        => "a [ 'a', \"it's\", 'x\\ny' ]";
    primitives_are_shown_as_they_are_written:
        "console.log(-0, 1n, null, undefined, true, Symbol('s'), NaN)"
        => "-0 1n null undefined true Symbol(s) NaN";
    collections_and_classes_say_what_they_are:
        "class A { x = 1 } console.log(new Map([['k', 1]]), new Set([1]), new A(), A, new Uint8Array(2), /a/g, Promise.resolve(1))"
        => "Map(1) { 'k' => 1 } Set(1) { 1 } A { x: 1 } [class A] Uint8Array(2) [ 0, 0 ] /a/g Promise { 1 }";
    an_object_in_itself_is_marked:
        "const a = {}; a.self = a; console.log(a)"
        => "<ref *1> { self: [Circular *1] }";
    long_objects_have_a_line_for_each_property:
        "console.log({ first: 'x'.repeat(40), second: 'y'.repeat(40) })"
        => "{\n  first: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',\n  second: 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'\n}";
    long_lists_are_in_columns:
        "console.log(Array.from({ length: 14 }, (_, i) => i * 10))"
        => "[\n    0,  10, 20, 30,  40,  50,\n   60,  70, 80, 90, 100, 110,\n  120, 130\n]";
    holes_and_more_items_are_counted:
        "console.log([, 1, , ], 'and', Array(102).fill(7).length)"
        => "[ <1 empty item>, 1, <1 empty item> ] and 102";
    functions_are_named:
        "console.log(function f() {}, () => 1, async function g() {}, class extends Array {})"
        => "[Function: f] [Function (anonymous)] [AsyncFunction: g] [class (anonymous) extends Array]";
    accessors_are_not_called:
        "console.log({ get a() { throw 1 }, set a(v) {}, get b() { return 1 } })"
        => "{ a: [Getter/Setter], b: [Getter] }";
    placeholders_are_filled:
        "console.log('%s is %d, %i, %f: %j %o %%', 'x', 4.5, 4.5, '1.5', { a: 1 }, [1], 'more')"
        => "x is 4.5, 4, 1.5: {\"a\":1} [ 1 ] % more";
    groups_are_indented:
        "console.group('a'); console.log('b\\nc'); console.groupEnd(); console.log('d')"
        => "a\n  b\n  c\nd";
    tables_are_drawn:
        "console.table([{ a: 1 }, { a: 22 }])"
        => "┌─────────┬────┐\n│ (index) │ a  │\n├─────────┼────┤\n│ 0       │ 1  │\n│ 1       │ 22 │\n└─────────┴────┘";
    an_object_may_show_itself:
        "console.log([{ [Symbol.for('nodejs.util.inspect.custom')]: () => '<mine>' }])"
        => "[ <mine> ]";
    a_lonely_surrogate_is_replaced:
        "console.log('\\ud800', ['\\ud800'])"
        => "\u{fffd} [ '\\uD800' ]";
}

#[test]
fn errors_and_warnings_go_to_standard_error() {
    fails(
        &[],
        "console.error('e', { a: 1 }); console.warn('w')",
        0,
        &["e { a: 1 }\nw\n"],
    );
}

#[test]
fn an_error_is_shown_with_its_stack_properties_and_cause() {
    let source = "const cause = new Error('why'); const e = new TypeError('bad', { cause }); e.code = 'X'; console.error(e)";
    let expected = [
        "TypeError: bad\n    at script.js:1:",
        "code: 'X'",
        "[cause]: Error: why",
    ];
    fails(&[], source, 0, &expected);
}

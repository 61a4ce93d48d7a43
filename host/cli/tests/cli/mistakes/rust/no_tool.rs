use airlock_tool::Tools;

airlock_tool::export!(tools);

fn tools() -> Tools {
    Tools::new()
}

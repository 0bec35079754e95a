"""Pure decisions of dispatch: classes of failures, the next step, permissions, headers."""

import Testing

/// The tests that open sockets, one after the other, since some of them count what is open.
@Suite(.serialized, .timeLimit(.minutes(1))) struct LiveTests {}

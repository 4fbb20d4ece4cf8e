import Testing

/// The tests that open sockets, one after the other, since some of them count what is open.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LiveTests {}

import Testing

/// The tests that open sockets. They are serialized, because some of them count the open sockets.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LiveTests {}

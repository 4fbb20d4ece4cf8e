internal import NIOCore

extension HTTP2Connection {
    /// Makes a channel speak HTTP/2, on its event loop, after TLS. The caller sees to it that ``connectionEnded()`` is
    /// called when the channel has closed.
    ///
    /// `windows` is what it shares with the transport's other connections, `assumedStreams` how many streams the server has
    /// allowed on another one.
    static func install(
        on channel: any Channel, configuration: TransportConfiguration, windows: HTTP2WindowBudget? = nil,
        assumedStreams: Int? = nil, firstStreamID: Int = 1
    ) throws -> HTTP2Connection {
        let budget = HTTP2WindowBudget(limit: configuration.http2.connectionWindowSize, parent: windows)
        let connection = HTTP2Connection(
            configuration, windows: budget, assumedStreams: assumedStreams, firstStreamID: firstStreamID)
        try channel.pipeline.syncOperations.addHandler(connection)
        connection.begin()
        if let options = channel.syncOptions {
            // Many small frames of many streams, or large bodies: either way a lot at a time.
            try options.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 4_096, initial: 16_384, maximum: 1_048_576))
            try options.setOption(.autoRead, value: true)
        }
        return connection
    }
}

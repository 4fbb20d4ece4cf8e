internal import NIOCore

extension HTTP2Connection {
    /// Adds HTTP/2 to a channel, on its event loop, above TLS. The caller makes sure that ``connectionEnded()`` is
    /// called when the channel has closed.
    ///
    /// - Parameter windows: The budget shared with the transport's other connections.
    /// - Parameter assumedStreams: The number of streams that the server allowed on another connection.
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
            // Reads become large for both many small frames and large bodies. The channel keeps the memory of a read.
            try options.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 2_048, initial: 2_048, maximum: 1_048_576))
            try options.setOption(.autoRead, value: true)
        }
        return connection
    }
}

/// How connections of HTTP/2 work (RFC 9113).
public struct HTTP2Options: Sendable, Hashable {
    /// How much of what costs a client more than it costs a server is let pass, before the connection is closed with
    /// ENHANCE_YOUR_CALM (RFC 9113, 10.5).
    ///
    /// Frames that belong to a request need no limit of their own, since the requests are the client's: a RST_STREAM that
    /// ends a stream, what is still on its way on a stream that the client has reset, an empty DATA frame for each that
    /// carries something. The CONTINUATION frames of a head count against
    /// ``TransportConfiguration/ResponseLimits/headBytes``, each for 64 bytes more than it carries.
    public struct Limits: Sendable, Hashable {
        /// The time in which the frames of the next two are counted. The default is 30 seconds.
        public var countingWindow: Duration = .seconds(30)
        /// Frames that belong to no request: PING, SETTINGS, PRIORITY, unknown ones, further empty DATA frames, and further
        /// frames on closed streams. The default is 10,000.
        public var controlFrames = 10_000
        /// Streams on which the server breaks the rules. The default is 200.
        public var streamErrors = 200
        /// Frames that wait to be sent, when the server makes us answer and does not read the answers. The default is
        /// 10,000.
        public var waitingControlFrames = 10_000

        /// The defaults.
        public init() {}
    }

    /// How many bytes of one response's body the server may send ahead of its reader, at most. It bounds the memory that a
    /// slow reader takes, and the speed over a long way: one window for each round trip. From 65,535 to 2,147,483,647; the
    /// default is 4 MiB.
    ///
    /// Each response begins with a window of 256 KiB, or less if this is less. It grows while the response is read, as far
    /// as ``connectionWindowSize`` lets it.
    public var initialWindowSize = 4 * 1024 * 1024
    /// How many bytes of all bodies together may be on their way. They count until they arrive, so that a slow reader
    /// does not hold up the others. From 65,535 to 2,147,483,647; the default is 16 MiB.
    ///
    /// So many bytes, too, is what the windows of a connection's responses hold together beyond the first 256 KiB of each,
    /// and four times as many what those of all connections of a transport do. A window takes at most half of what is left,
    /// so that many slow readers make the windows of the others smaller, but never close them: memory stays bounded, the
    /// speed over a long way goes down, and no response waits for another one's reader.
    public var connectionWindowSize = 16 * 1024 * 1024
    /// The most bytes of one frame that the server may send. From 16,384 to 16,777,215; the default is 64 KiB.
    public var maximumFrameSize = 64 * 1024
    /// After how long a silence a PING asks whether the server is still there, while a response is due; nil to not ask.
    /// The default is 30 seconds.
    public var keepAlivePing: Duration? = .seconds(30)
    /// How long the server may take to show a sign of life after a PING, and to acknowledge the client's SETTINGS (RFC 9113,
    /// 6.5.3); then the connection's requests fail with ``TransportError/Code/pingTimeout``. A request that fails with
    /// ``TransportError/Code/readTimeout`` makes the connection ask, too. The default is 15 seconds.
    public var pingTimeout: Duration = .seconds(15)
    /// How many connections of HTTP/2 there may be to one origin: another one is opened when the server lets no more
    /// streams run on the first. The default is 1.
    public var maximumConnectionsPerOrigin = 1
    /// How much of what costs a client more than it costs a server is let pass.
    public var limits = Limits()

    /// The defaults.
    public init() {}

    func validate() throws(TransportError) {
        let windows = 65_535...2_147_483_647
        guard windows ~= initialWindowSize, windows ~= connectionWindowSize else {
            throw TransportError(.invalidConfiguration, "A window of HTTP/2 has from 65,535 to 2,147,483,647 bytes.")
        }
        guard 16_384...16_777_215 ~= maximumFrameSize else {
            throw TransportError(.invalidConfiguration, "A frame of HTTP/2 has from 16,384 to 16,777,215 bytes.")
        }
        guard maximumConnectionsPerOrigin > 0 else {
            throw TransportError(.invalidConfiguration, "A pool needs room for one connection at least.")
        }
        let counts = [limits.controlFrames, limits.streamErrors, limits.waitingControlFrames]
        guard counts.allSatisfy({ $0 > 0 }), limits.countingWindow > .zero, pingTimeout > .zero,
            keepAlivePing.map({ $0 > .zero }) ?? true
        else {
            throw TransportError(.invalidConfiguration, "A limit or a time of HTTP/2 is above zero.")
        }
    }

    /// The window that each response begins with.
    var firstWindowSize: Int { min(initialWindowSize, 256 * 1024) }
}

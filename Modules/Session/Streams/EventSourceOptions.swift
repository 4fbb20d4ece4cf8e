/// Options for reading server-sent events.
public struct EventSourceOptions: Sendable {
    /// The delay before reconnecting, unless the server sets one (`retry`). The default is 3 seconds.
    public var reconnectDelay: Duration = .seconds(3)
    /// The maximum delay: each failed attempt doubles the delay up to this, or up to the server's delay if that is longer. The
    /// default is 1 minute.
    public var maximumReconnectDelay: Duration = .seconds(60)
    /// The maximum number of consecutive failed attempts, after which the next one's error is thrown; an event resets the count.
    /// The default is nil: no limit.
    public var maximumReconnects: Int?
    /// The initial last event ID, such as a saved one. The default is empty: none.
    public var lastEventID = ""
    /// The maximum size of a line, and of an event's data, in bytes. The default is 1 MiB.
    public var eventSizeLimit = ResponseBody.defaultLineLimit
    /// The clock for the delays. The default is the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates the default options.
    public init() {}

    /// Creates the default options, modified by a function.
    public init(_ configure: (inout EventSourceOptions) -> Void) {
        configure(&self)
    }
}

/// Options for reading server-sent events.
public struct EventSourceOptions: Sendable {
    /// How long to wait before connecting again, until the server says otherwise (`retry`). The default is 3 seconds.
    public var reconnectDelay: Duration = .seconds(3)
    /// Each failed attempt doubles the delay, up to this, or to what the server says if that is longer. The default is 1
    /// minute.
    public var maximumReconnectDelay: Duration = .seconds(60)
    /// The number of consecutive failed attempts before the last one's error is thrown; an event resets the count. The default
    /// is nil: no limit.
    public var maximumReconnects: Int?
    /// The ID to begin with, such as one that was saved. The default is none.
    public var lastEventID = ""
    /// The most bytes of a line, and of an event's data. The default is 1 MiB.
    public var eventSizeLimit = ResponseBody.defaultLineLimit
    /// The clock for the delays. The default is the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// The defaults.
    public init() {}

    /// The defaults, changed by a function.
    public init(_ configure: (inout EventSourceOptions) -> Void) {
        configure(&self)
    }
}

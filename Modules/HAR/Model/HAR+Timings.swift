public import LinnetJSON

extension HAR {
    /// The times of the steps of a request, in milliseconds.
    public struct Timings: Sendable, Hashable {
        /// The wait for a connection; nil if there was none.
        public var blocked: Double?
        /// Resolving the name; nil if it was not resolved for this request.
        public var dns: Double?
        /// Opening the connection, with its TLS handshake; nil if it was not opened for this request.
        public var connect: Double?
        /// Sending the request.
        public var send: Double
        /// The wait for the response.
        public var wait: Double
        /// Receiving the response.
        public var receive: Double
        /// The TLS handshake, which is a part of ``connect``; nil if there was none.
        public var ssl: Double?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates timings; entries that are not given are nil or zero.
        public init(
            blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, send: Double = 0, wait: Double = 0,
            receive: Double = 0, ssl: Double? = nil
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.send = send
            self.wait = wait
            self.receive = receive
            self.ssl = ssl
        }

        /// The sum of all steps; ``ssl`` is a part of ``connect``.
        public var total: Double {
            [blocked ?? 0, dns ?? 0, connect ?? 0, max(0, send), max(0, wait), max(0, receive)].reduce(0, +)
        }
    }
}

extension HAR.Timings: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        blocked = try fields.timeIfPresent("blocked")
        dns = try fields.timeIfPresent("dns")
        connect = try fields.timeIfPresent("connect")
        send = try fields.time("send")
        wait = try fields.time("wait")
        receive = try fields.time("receive")
        ssl = try fields.timeIfPresent("ssl")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = [
            "blocked": .time(blocked), "dns": .time(dns), "connect": .time(connect), "send": .time(send),
            "wait": .time(wait), "receive": .time(receive), "ssl": .time(ssl),
        ]
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

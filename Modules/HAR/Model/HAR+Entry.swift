public import FoundationEssentials
public import LinnetJSON

extension HAR {
    /// A request with its response, and what is known of its course.
    public struct Entry: Sendable, Hashable {
        /// The identifier of the page that the entry belongs to; nil for none.
        public var pageReference: String?
        /// When the request began, in milliseconds.
        public var started: Date
        /// The time of all steps, in milliseconds: the sum of the ``timings``, without the ones that are nil and
        /// without ``HAR/Timings/ssl``, which is a part of another one.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response.
        public var response: Response
        /// The state of the cache.
        public var cache: Cache
        /// The time of each step.
        public var timings: Timings
        /// The IP address of the server; nil if it is unknown.
        public var serverIPAddress: String?
        /// The identifier of the connection; nil if it is unknown.
        public var connection: String?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates an entry.
        public init(started: Date, request: Request, response: Response, timings: Timings) {
            self.started = started.roundedToMilliseconds
            self.request = request
            self.response = response
            self.timings = timings
            time = timings.total
            cache = Cache()
        }
    }
}

extension HAR.Entry: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        pageReference = try fields.stringIfPresent("pageref")
        started = try fields.date("startedDateTime")
        time = try fields.time("time")
        request = try fields.value("request")
        response = try fields.value("response")
        cache = try fields.value("cache")
        timings = try fields.value("timings")
        serverIPAddress = try fields.stringIfPresent("serverIPAddress")
        connection = try fields.stringIfPresent("connection")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object = JSONObject()
        object["pageref"] = pageReference.map(JSONValue.string)
        object["startedDateTime"] = .string(started.iso8601Text)
        object["time"] = .time(time)
        object["request"] = .object(request.object)
        object["response"] = .object(response.object)
        object["cache"] = .object(cache.object)
        object["timings"] = .object(timings.object)
        object["serverIPAddress"] = serverIPAddress.map(JSONValue.string)
        object["connection"] = connection.map(JSONValue.string)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

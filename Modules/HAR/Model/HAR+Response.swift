public import LinnetJSON

extension HAR {
    /// A response.
    public struct Response: Sendable, Hashable {
        /// The status; 0 if there was no response.
        public var status: Int
        /// The reason phrase.
        public var statusText: String
        /// The version of HTTP, such as `HTTP/1.1`; `unknown` if none was spoken.
        public var httpVersion: String
        /// The cookies that the server set.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [Pair]
        /// The content.
        public var content: Content
        /// The target of a redirect; empty for none.
        public var redirectURL: String
        /// The size of the head in bytes; -1, the default, if it is unknown.
        public var headersSize: Int
        /// The size of the body in bytes, as it was received; -1 if it is unknown.
        public var bodySize: Int
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a response without content.
        public init(status: Int, statusText: String = "", httpVersion: String = "HTTP/1.1") {
            self.status = status
            self.statusText = statusText
            self.httpVersion = httpVersion
            (cookies, headers) = ([], [])
            content = Content(size: 0, mimeType: "")
            redirectURL = ""
            (headersSize, bodySize) = (-1, 0)
        }
    }
}

extension HAR.Response: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        status = try fields.integer("status")
        guard 0...999 ~= status else { throw .invalid(fields.place("status"), "a status between 0 and 999") }
        statusText = try fields.string("statusText")
        httpVersion = try fields.string("httpVersion")
        cookies = try fields.list("cookies")
        headers = try fields.list("headers")
        content = try fields.value("content")
        redirectURL = try fields.string("redirectURL")
        headersSize = try fields.size("headersSize")
        bodySize = try fields.size("bodySize")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = [
            "status": .number(JSONNumber(status)), "statusText": .string(statusText),
            "httpVersion": .string(httpVersion), "cookies": .list(cookies), "headers": .list(headers),
            "content": .object(content.object), "redirectURL": .string(redirectURL),
            "headersSize": .number(JSONNumber(headersSize)), "bodySize": .number(JSONNumber(bodySize)),
        ]
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

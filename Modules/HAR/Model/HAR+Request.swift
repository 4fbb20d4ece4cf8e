public import LinnetJSON

extension HAR {
    /// A request.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The absolute URL, without a fragment.
        public var url: String
        /// The version of HTTP, such as `HTTP/1.1`; `unknown` if none was spoken.
        public var httpVersion: String
        /// The cookies.
        public var cookies: [Cookie]
        /// The header fields.
        public var headers: [Pair]
        /// The parameters of the URL's query, decoded.
        public var queryString: [Pair]
        /// The body; nil for none, or if it was not recorded.
        public var postData: PostData?
        /// The size of the head in bytes; -1, the default, if it is unknown.
        public var headersSize: Int
        /// The size of the body in bytes, as it was sent; -1 if it is unknown.
        public var bodySize: Int
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a request without a body.
        public init(method: String, url: String, httpVersion: String = "HTTP/1.1") {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
            (cookies, headers, queryString) = ([], [], [])
            (headersSize, bodySize) = (-1, 0)
        }
    }

    /// A name and its value: a header field, or a parameter of a query.
    public struct Pair: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a pair.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension HAR.Request: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        method = try fields.string("method")
        url = try fields.string("url")
        httpVersion = try fields.string("httpVersion")
        cookies = try fields.list("cookies")
        headers = try fields.list("headers")
        queryString = try fields.list("queryString")
        postData = try fields.valueIfPresent("postData")
        headersSize = try fields.size("headersSize")
        bodySize = try fields.size("bodySize")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = [
            "method": .string(method), "url": .string(url), "httpVersion": .string(httpVersion),
            "cookies": .list(cookies), "headers": .list(headers), "queryString": .list(queryString),
        ]
        object["postData"] = postData.map { .object($0.object) }
        object["headersSize"] = .number(JSONNumber(headersSize))
        object["bodySize"] = .number(JSONNumber(bodySize))
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

extension HAR.Pair: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        name = try fields.string("name")
        value = try fields.string("value")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["name": .string(name), "value": .string(value)]
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

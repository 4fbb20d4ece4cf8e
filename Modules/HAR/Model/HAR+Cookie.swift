public import LinnetJSON

extension HAR {
    /// A cookie of a request, or one that a response set.
    public struct Cookie: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The attribute Path; nil if it is missing.
        public var path: String?
        /// The attribute Domain; nil if it is missing.
        public var domain: String?
        /// The attribute Expires, as text; nil if it is missing.
        public var expires: String?
        /// Whether the cookie has the attribute HttpOnly; nil if it is unknown.
        public var isHTTPOnly: Bool?
        /// Whether the cookie has the attribute Secure; nil if it is unknown.
        public var isSecure: Bool?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a cookie.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }
}

extension HAR.Cookie: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        name = try fields.string("name")
        value = try fields.string("value")
        path = try fields.stringIfPresent("path")
        domain = try fields.stringIfPresent("domain")
        expires = try fields.stringIfPresent("expires")
        isHTTPOnly = try fields.boolIfPresent("httpOnly")
        isSecure = try fields.boolIfPresent("secure")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["name": .string(name), "value": .string(value)]
        object["path"] = path.map(JSONValue.string)
        object["domain"] = domain.map(JSONValue.string)
        object["expires"] = expires.map(JSONValue.string)
        object["httpOnly"] = isHTTPOnly.map(JSONValue.bool)
        object["secure"] = isSecure.map(JSONValue.bool)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

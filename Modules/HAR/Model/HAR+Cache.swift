public import LinnetJSON

extension HAR {
    /// The state of a cache before and after a request. The entries that Linnet records come from the network, and have
    /// none.
    public struct Cache: Sendable, Hashable {
        /// The state before the request; nil if it is unknown.
        public var beforeRequest: State?
        /// The state after the request; nil if it is unknown.
        public var afterRequest: State?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates an empty value.
        public init() {}
    }
}

extension HAR.Cache {
    /// The state of an entry of a cache.
    public struct State: Sendable, Hashable {
        /// When the entry expires, as text; nil if it is unknown.
        public var expires: String?
        /// When the entry was last used, as text.
        public var lastAccess: String
        /// The entity tag.
        public var eTag: String
        /// How often the entry was used.
        public var hitCount: Int
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a state.
        public init(lastAccess: String, eTag: String, hitCount: Int) {
            self.lastAccess = lastAccess
            self.eTag = eTag
            self.hitCount = hitCount
        }
    }
}

extension HAR.Cache: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        beforeRequest = try fields.valueIfPresent("beforeRequest")
        afterRequest = try fields.valueIfPresent("afterRequest")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object = JSONObject()
        object["beforeRequest"] = beforeRequest.map { .object($0.object) }
        object["afterRequest"] = afterRequest.map { .object($0.object) }
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

extension HAR.Cache.State: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        expires = try fields.stringIfPresent("expires")
        lastAccess = try fields.string("lastAccess")
        eTag = try fields.string("eTag")
        hitCount = try fields.integer("hitCount")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object = JSONObject()
        object["expires"] = expires.map(JSONValue.string)
        object["lastAccess"] = .string(lastAccess)
        object["eTag"] = .string(eTag)
        object["hitCount"] = .number(JSONNumber(hitCount))
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

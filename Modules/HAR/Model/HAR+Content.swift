public import FoundationEssentials
public import LinnetJSON

extension HAR {
    /// The content of a response, with its content codings undone.
    public struct Content: Sendable, Hashable {
        /// The size of the content in bytes.
        public var size: Int
        /// The number of bytes that the codings have saved; nil if it is unknown.
        public var compression: Int?
        /// The media type, the value of Content-Type; empty if there is none.
        public var mimeType: String
        /// The content as text, or encoded as ``encoding`` says; nil if it was not recorded.
        public var text: String?
        /// The encoding of ``text``: `base64`, or nil for none.
        public var encoding: String?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates content that was not recorded.
        public init(size: Int, mimeType: String) {
            self.size = size
            self.mimeType = mimeType
        }

        /// Creates content: text if the bytes are UTF-8, and base64 otherwise.
        public init(_ bytes: Data, mimeType: String) {
            self.init(size: bytes.count, mimeType: mimeType)
            set(bytes)
        }

        /// The bytes of the content; nil if it was not recorded.
        ///
        /// - Throws: ``HARError/Code/damagedBody`` if ``text`` is not valid base64, or its ``encoding`` is another one.
        public func data() throws(HARError) -> Data? {
            try BodyText.data(text, encoding: encoding)
        }

        mutating func set(_ bytes: Data) {
            (text, encoding) = BodyText.text(bytes)
        }
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable {
        /// The media type, the value of Content-Type; empty if there is none.
        public var mimeType: String
        /// The parameters of a form. Linnet writes none: forms are in ``text``, too.
        public var params: [Parameter]
        /// The body as text, or encoded as ``encoding`` says; nil if it was not recorded.
        public var text: String?
        /// The encoding of ``text``: `base64`, or nil for none. The format has no field for it; it is kept in a field
        /// with the name `_encoding`.
        public var encoding: String?
        /// A comment.
        public var comment: String?
        /// The other fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a body that was not recorded.
        public init(mimeType: String) {
            self.mimeType = mimeType
            params = []
        }

        /// Creates a body: text if the bytes are UTF-8, and base64 otherwise.
        public init(_ bytes: Data, mimeType: String) {
            self.init(mimeType: mimeType)
            (text, encoding) = BodyText.text(bytes)
        }

        /// The bytes of the body; nil if they were not recorded.
        ///
        /// - Throws: ``HARError/Code/damagedBody`` if ``text`` is not valid base64, or its ``encoding`` is another one.
        public func data() throws(HARError) -> Data? {
            try BodyText.data(text, encoding: encoding)
        }
    }

    /// A parameter of a form.
    public struct Parameter: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value; nil if there is none.
        public var value: String?
        /// The name of the file; nil for other parameters.
        public var fileName: String?
        /// The media type of the file; nil for other parameters.
        public var contentType: String?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a parameter.
        public init(name: String, value: String? = nil) {
            self.name = name
            self.value = value
        }
    }
}

/// Bytes in a text of JSON.
private enum BodyText {
    /// - Returns: The text, and its encoding; nil if the bytes are text in UTF-8.
    static func text(_ bytes: Data) -> (String, encoding: String?) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, nil) }
        return (bytes.base64EncodedString(), "base64")
    }

    static func data(_ text: String?, encoding: String?) throws(HARError) -> Data? {
        guard let text else { return nil }
        switch encoding {
        case nil, "": return Data(text.utf8)
        case "base64":
            if let data = Data(base64Encoded: text) { return data }
            throw HARError(.damagedBody, "The text of a body is not valid base64.")
        case let encoding?:
            throw HARError(
                .damagedBody, "The encoding \(encoding.prefix(40).debugDescription) of a body is not base64.")
        }
    }
}

extension HAR.Content: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        size = try fields.size("size")
        compression = try fields.integerIfPresent("compression")
        mimeType = try fields.string("mimeType")
        text = try fields.stringIfPresent("text")
        encoding = try fields.stringIfPresent("encoding")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["size": .number(JSONNumber(size))]
        object["compression"] = compression.map { .number(JSONNumber($0)) }
        object["mimeType"] = .string(mimeType)
        object["text"] = text.map(JSONValue.string)
        object["encoding"] = encoding.map(JSONValue.string)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

extension HAR.PostData: HARValue {
    private static let encodingName = "_encoding"

    init(_ fields: HARFields) throws(HARError) {
        mimeType = try fields.string("mimeType")
        params = try fields.listIfPresent("params") ?? []
        text = try fields.stringIfPresent("text")
        encoding = try fields.stringIfPresent(Self.encodingName)
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
        custom[Self.encodingName] = nil
    }

    var object: JSONObject {
        var object: JSONObject = ["mimeType": .string(mimeType)]
        if !params.isEmpty { object["params"] = .list(params) }
        object["text"] = text.map(JSONValue.string)
        object[Self.encodingName] = encoding.map(JSONValue.string)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

extension HAR.Parameter: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        name = try fields.string("name")
        value = try fields.stringIfPresent("value")
        fileName = try fields.stringIfPresent("fileName")
        contentType = try fields.stringIfPresent("contentType")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["name": .string(name)]
        object["value"] = value.map(JSONValue.string)
        object["fileName"] = fileName.map(JSONValue.string)
        object["contentType"] = contentType.map(JSONValue.string)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

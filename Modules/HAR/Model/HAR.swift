public import LinnetJSON
internal import LinnetMessages

/// An HTTP Archive, version 1.2: a log of requests and their responses, as browsers export it.
///
/// ```swift
/// let har = try HAR(contentsOf: URL(filePath: "session.har"))
/// for entry in har.entries where entry.response.status >= 400 {
///     print(entry.request.method, entry.request.url, entry.response.status)
/// }
/// ```
/// A field that the format requires must be there, and every known field must have its type; ``HARError`` has the place
/// of the first one that is wrong. Fields whose names begin with an underscore, which the format leaves to
/// applications, are kept in `custom`. Other unknown fields are ignored.
public struct HAR: Sendable, Hashable {
    /// The version of the format. The default is `1.2`.
    public var version: String
    /// The program that made the log.
    public var creator: Creator
    /// The browser that made the requests; nil, the default, for other programs.
    public var browser: Creator?
    /// The pages that the entries belong to. The default is none.
    public var pages: [Page]
    /// The requests with their responses.
    public var entries: [Entry]
    /// A comment of the program or of the user.
    public var comment: String?
    /// The fields of the log whose names begin with an underscore.
    public var custom = JSONObject()

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - entries: The entries. The default is none.
    ///   - creator: The program that made the log. The default is Linnet.
    public init(entries: [Entry] = [], creator: Creator = .linnet) {
        version = "1.2"
        self.creator = creator
        pages = []
        self.entries = entries
    }
}

extension HAR {
    /// The name and version of a program.
    public struct Creator: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The version.
        public var version: String
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a name and version.
        public init(name: String, version: String) {
            self.name = name
            self.version = version
        }

        /// This library.
        public static let linnet = Creator(name: "Linnet", version: LinnetVersion.current)
    }
}

extension HAR: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        version = try fields.string("version")
        creator = try fields.value("creator")
        browser = try fields.valueIfPresent("browser")
        pages = try fields.listIfPresent("pages") ?? []
        entries = try fields.list("entries")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["version": .string(version), "creator": .object(creator.object)]
        object["browser"] = browser.map { .object($0.object) }
        if !pages.isEmpty { object["pages"] = .list(pages) }
        object["entries"] = .list(entries)
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

extension HAR.Creator: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        name = try fields.string("name")
        version = try fields.string("version")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        var object: JSONObject = ["name": .string(name), "version": .string(version)]
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

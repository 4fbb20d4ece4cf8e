public import FoundationEssentials
public import LinnetJSON

extension HAR {
    /// A page of a browser. Programs without pages have none.
    public struct Page: Sendable, Hashable {
        /// When the page began to load, in milliseconds.
        public var started: Date
        /// The identifier, to which ``HAR/Entry/pageReference`` refers.
        public var id: String
        /// The title.
        public var title: String
        /// When the content was loaded, in milliseconds after ``started``; nil if it is unknown.
        public var contentLoad: Double?
        /// When the page was loaded, in milliseconds after ``started``; nil if it is unknown.
        public var load: Double?
        /// A comment.
        public var comment: String?
        /// The fields whose names begin with an underscore.
        public var custom = JSONObject()

        /// Creates a page.
        public init(id: String, title: String, started: Date) {
            self.id = id
            self.title = title
            self.started = started.roundedToMilliseconds
        }
    }
}

extension HAR.Page: HARValue {
    init(_ fields: HARFields) throws(HARError) {
        started = try fields.date("startedDateTime")
        id = try fields.string("id")
        title = try fields.string("title")
        let timings = try fields.fields("pageTimings")
        contentLoad = try timings.timeIfPresent("onContentLoad")
        load = try timings.timeIfPresent("onLoad")
        comment = try fields.stringIfPresent("comment")
        custom = fields.custom
    }

    var object: JSONObject {
        let timings: JSONObject = ["onContentLoad": .time(contentLoad), "onLoad": .time(load)]
        var object: JSONObject = [
            "startedDateTime": .string(started.iso8601Text), "id": .string(id), "title": .string(title),
            "pageTimings": .object(timings),
        ]
        object["comment"] = comment.map(JSONValue.string)
        return object.adding(custom)
    }
}

import ExampleSupport
import FoundationEssentials
import Linnet

/// The request of a command line.
struct MessagePlan {
    let request: SessionRequest

    init(_ arguments: Arguments) throws {
        let words = try RequestWords(arguments.words)
        let body = try BodyPlan(arguments.message, items: words.items)
        let fallback: HTTPRequest.Method = arguments.output.isHead ? .head : body == nil ? .get : .post
        request = SessionRequest(
            url: words.url,
            method: try Self.method(arguments.message.method, words.method) ?? fallback,
            headerFields: try Self.fields(arguments.message, words.items, body),
            body: body?.body)
    }

    private static func method(_ option: String?, _ word: HTTPRequest.Method?) throws -> HTTPRequest.Method? {
        guard let option else { return word }
        guard word == nil else { throw UsageError("-X and a method before the URL exclude each other.") }
        guard let method = HTTPRequest.Method(option) else { throw UsageError("-X \"\(option)\" is not a method.") }
        return method
    }

    private static func fields(
        _ arguments: MessageArguments, _ items: [RequestItem], _ body: BodyPlan?
    ) throws -> HTTPFields {
        var fields = HTTPFields(try arguments.headers.map(HeaderField.parse) + items.compactMap(\.headerField))
        if let user = arguments.user { try authorize(&fields, user) }
        if let body, !fields.contains(.contentType) { fields[.contentType] = body.contentType }
        if arguments.isJSON || body?.isJSON == true, !fields.contains(.accept) {
            fields[.accept] = "application/json, */*;q=0.5"
        }
        return fields
    }

    private static func authorize(_ fields: inout HTTPFields, _ user: String) throws {
        guard !fields.contains(.authorization) else {
            throw UsageError("-u and a header field Authorization exclude each other.")
        }
        guard let colon = user.firstIndex(of: ":") else {
            throw UsageError("-u has no password: the format is name:password.")
        }
        try fields.setBasicAuthorization(
            username: String(user[..<colon]), password: String(user[user.index(after: colon)...]))
    }
}

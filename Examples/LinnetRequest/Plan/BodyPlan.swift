import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetJSON

/// The body of a request, from `-d` or from items.
struct BodyPlan {
    let body: HTTPRequestBody
    let contentType: String
    /// Whether JSON is sent, so that JSON is the best answer.
    let isJSON: Bool

    private static let formType = "application/x-www-form-urlencoded"
    private static let jsonType = "application/json"

    /// Returns nil without data.
    init?(_ arguments: MessageArguments, items: [RequestItem]) throws {
        let items = items.filter(\.isData)
        guard !arguments.isForm || !arguments.isJSON else { throw UsageError("--form and --json exclude each other.") }
        guard items.isEmpty || arguments.data.isEmpty else {
            throw UsageError("-d and items of data exclude each other.")
        }
        if !arguments.data.isEmpty {
            try self.init(data: arguments.data, isJSON: arguments.isJSON)
        } else if items.isEmpty {
            return nil
        } else if items.contains(where: { if case .file = $0 { true } else { false } }) {
            guard !arguments.isJSON else { throw UsageError("--json cannot send files; name:=@file is a file's JSON.") }
            self.init(multipart: try Self.form(items))
        } else if arguments.isForm {
            try self.init(form: items)
        } else {
            self.init(json: items)
        }
    }

    private init(data: [String], isJSON: Bool) throws {
        self.isJSON = isJSON
        if data.count == 1, data[0].hasPrefix("@"), data[0] != "@-" {
            let file = URL(filePath: String(data[0].dropFirst()))
            do {
                body = try .file(file)
            } catch {
                throw UsageError("\"\(file.relativePath)\" cannot be read.")
            }
            contentType = isJSON ? Self.jsonType : MIMEType.Table.system.type(forPathExtension: file.pathExtension)
        } else {
            let parts = try data.map { $0.hasPrefix("@") ? try InputFile.read(String($0.dropFirst())) : Data($0.utf8) }
            body = .data(Data(parts.joined(separator: Data("&".utf8))))
            contentType = isJSON ? Self.jsonType : Self.formType
        }
    }

    private init(json items: [RequestItem]) {
        var object = JSONObject()
        for (name, value) in items.compactMap(\.member) { object[name] = value }
        body = .data(JSONValue.object(object).data())
        contentType = Self.jsonType
        isJSON = true
    }

    private init(form items: [RequestItem]) throws {
        var encoder = QueryEncoder()
        encoder.sortsKeys = false
        encoder.spaceStyle = .plus
        let entries = items.compactMap(\.pair).map { ParameterValue.Entry($0, .string($1)) }
        body = .data(Data(try encoder.encode(RequestParameters(entries)).utf8))
        contentType = Self.formType
        isJSON = false
    }

    private init(multipart form: MultipartForm) {
        body = form.makeBody()
        contentType = form.contentType
        isJSON = false
    }

    private static func form(_ items: [RequestItem]) throws -> MultipartForm {
        var form = MultipartForm()
        for item in items {
            if case .file(let name, let path) = item {
                do {
                    try form.append(fileAt: URL(filePath: path), name: name)
                } catch {
                    throw UsageError(error.message)
                }
            } else if let (name, text) = item.pair {
                form.append(text, name: name)
            }
        }
        return form
    }
}

extension RequestItem {
    /// The member of a JSON object.
    fileprivate var member: (String, JSONValue)? {
        switch self {
        case .text(let name, let text): (name, .string(text))
        case .json(let name, let value): (name, value)
        default: nil
        }
    }

    /// The field of a form.
    fileprivate var pair: (String, String)? {
        switch self {
        case .text(let name, let text): (name, text)
        case .json(let name, let value): (name, value.string ?? String(decoding: value.data(), as: UTF8.self))
        default: nil
        }
    }
}

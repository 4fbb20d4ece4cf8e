import FoundationEssentials
import HTTPTypes
import LinnetJSON

/// The contents of a file of routes.
struct RouteFile: Decodable {
    /// The routes, of which the first that matches answers.
    var routes: [Route]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case routes
    }

    init(from decoder: any Decoder) throws {
        routes = try decoder.container(knowing: CodingKeys.self).decode([Route].self, forKey: .routes)
    }

    /// Reads a file.
    init(path: String) throws(RouteFileError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw RouteFileError("\(path) cannot be read: \(RouteFileError.reason(of: error))")
        }
        do {
            self = try JSONBodyDecoder().decode(RouteFile.self, from: data)
        } catch let error as JSONSyntaxError {
            throw RouteFileError("\(path) is not JSON: \(error)")
        } catch {
            throw RouteFileError("\(path): \(RouteFileError.text(of: error))")
        }
    }
}

/// The responses to requests for a path.
struct Route: Decodable {
    /// Nil for all methods.
    var method: HTTPRequest.Method?
    /// A path, or a prefix that ends in `/*`.
    var path: String
    /// The responses, one for each request, in order. The only one answers all requests.
    var responses: [ResponsePlan]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case method, path, responses
    }

    init(from decoder: any Decoder) throws {
        // A route with one response has its members in the same object.
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let name = try values.decodeIfPresent(String.self, forKey: .method) {
            guard let known = HTTPRequest.Method(name) else { throw values.fault(.method, "A method is a token.") }
            method = known
        }
        path = try values.decode(String.self, forKey: .path)
        guard path.hasPrefix("/"), path.unicodeScalars.allSatisfy({ ("!"..."~").contains($0) && $0 != "?" }) else {
            throw values.fault(.path, "A path begins with a slash, and is percent-encoded, without a query.")
        }
        if let list = try values.decodeIfPresent([ResponsePlan].self, forKey: .responses) {
            _ = try decoder.container(knowing: CodingKeys.self)
            guard !list.isEmpty else { throw values.fault(.responses, "A route has at least one response.") }
            responses = list
        } else {
            responses = [try ResponsePlan(from: decoder, beside: CodingKeys.allCases.map(\.rawValue))]
        }
    }
}

/// A file of routes that cannot be used.
struct RouteFileError: Error {
    let message: String

    init(_ message: String) { self.message = message }

    /// The reason of a failure to read or write a file.
    static func reason(of error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "it does not exist."
        case .fileReadNoPermission, .fileWriteNoPermission: "there is no permission."
        default: "\(error)"
        }
    }

    /// The place and the reason of an error of decoding.
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        let (context, reason): (DecodingError.Context, String?) =
            switch error {
            case .keyNotFound(let key, let context): (context, "\"\(key.stringValue)\" is missing.")
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), nil)
            }
        let place = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return "\(place.isEmpty ? "the file" : String(place.drop { $0 == "." })): \(reason ?? context.debugDescription)"
    }
}

// MARK: Members

private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Returns the container of an object, and refuses members that have no key: a typing error would be ignored.
    func container<Key: CodingKey & CaseIterable>(
        knowing keys: Key.Type, and others: [String] = []
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Key.allCases.map(\.stringValue)
        for key in try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
        where !known.contains(key) && !others.contains(key) {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "\"\(key)\" is unknown; the members are \(known.joined(separator: ", "))."))
        }
        return try container(keyedBy: keys)
    }
}

extension KeyedDecodingContainer {
    /// An error about a member.
    func fault(_ key: Key, _ reason: String) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: reason)
    }
}

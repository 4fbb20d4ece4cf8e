import Linnet

/// Describes why a body could not be decoded, and at which place.
enum DecodingReason {
    static func text(_ error: SessionError) -> String {
        guard let serialization = error.underlying as? SerializationError,
            let decoding = serialization.underlying as? DecodingError
        else { return error.message }
        switch decoding {
        case .keyNotFound(let key, let context): return "\"\(key.stringValue)\" is missing\(place(context))"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            return context.debugDescription.trimmingDots + place(context)
        @unknown default: return error.message
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        guard !context.codingPath.isEmpty else { return "" }
        let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return " at \(path.drop { $0 == "." })"
    }
}

extension String {
    fileprivate var trimmingDots: String {
        var text = self[...]
        while text.last == "." { text.removeLast() }
        return String(text)
    }
}

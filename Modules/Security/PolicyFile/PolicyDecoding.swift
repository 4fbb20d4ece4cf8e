internal import FoundationEssentials

/// Reads a document, and says what is wrong with it in our words.
enum PolicyDecoding {
    static let largestFile = 1 << 20

    static func document(_ json: Data) throws(SecurityError) -> SecurityPolicyDocument {
        guard json.count <= largestFile else {
            throw SecurityError(.invalidPolicyFile, "A policy of more than \(largestFile) bytes is not read.", path: "")
        }
        // The decoder would guess UTF-16 or UTF-32, too; those have bytes that are zero.
        guard !json.contains(0), String(validating: json, as: UTF8.self) != nil else {
            throw SecurityError(.invalidPolicyFile, "The file is not in UTF-8.", path: "")
        }
        do {
            let document = try JSONDecoder().decode(SecurityPolicyDocument.self, from: json)
            try JSONKeys.refuseRepeated(json)
            return document
        } catch {
            throw translated(error)
        }
    }

    private static func translated(_ error: any Error) -> SecurityError {
        switch error {
        case let error as SecurityError: return error
        case DecodingError.typeMismatch(let type, let context), DecodingError.valueNotFound(let type, let context):
            return SecurityError(
                .invalidPolicyFile, "This must be \(name(type)).", path: PolicyPath.text(context.codingPath))
        case DecodingError.dataCorrupted(let context):
            let reason = context.underlyingError.map { ": \($0)".oneLine } ?? ""
            return SecurityError(
                .invalidPolicyFile,
                context.codingPath.isEmpty ? "The file is no JSON\(reason)." : "This cannot be read.",
                path: PolicyPath.text(context.codingPath))
        default:
            return SecurityError(.invalidPolicyFile, "The file cannot be read.", path: "")
        }
    }

    private static func name(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type: "a whole number"
        case is [Any].Type, is [String].Type, is [SecurityPolicyDocument.Rule].Type: "a list"
        default: "an object"
        }
    }
}

internal import FoundationEssentials

/// Looks for keys that stand twice in an object of JSON, of which a decoder takes one, and a reader perhaps the other.
///
/// The text has been parsed before: this needs to know no more of JSON than where strings and objects begin and end.
struct JSONKeys {
    /// The keys of the objects that are open; nil for a list.
    private var open: [Set<String>?] = []

    /// Fails with ``SecurityError/Code/unknownPolicyKey``.
    static func refuseRepeated(_ json: Data) throws(SecurityError) {
        var keys = JSONKeys()
        var text: [UInt8] = []
        var (isInString, isEscaped) = (false, false)
        for byte in json {
            if isInString {
                isInString = byte != UInt8(ascii: "\"") || isEscaped
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                if isInString { text.append(byte) }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (text, isInString) = ([], true)
            case UInt8(ascii: "{"): keys.open.append([])
            case UInt8(ascii: "["): keys.open.append(nil)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = keys.open.popLast()
            case UInt8(ascii: ":"): try keys.add(String(decoding: text, as: UTF8.self))
            default: break
            }
        }
    }

    private mutating func add(_ key: String) throws(SecurityError) {
        // No key that is known needs one, and an escape could hide that two are the same.
        guard !key.contains("\\") else {
            throw SecurityError(.unknownPolicyKey, "The key \"\(key.oneLine)\" is written with an escape.", path: "")
        }
        guard let last = open.indices.last, open[last]?.insert(key).inserted ?? true else {
            throw SecurityError(.unknownPolicyKey, "The key \"\(key.oneLine)\" stands twice in one object.", path: "")
        }
    }
}

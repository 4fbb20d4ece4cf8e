internal import Foundation  // JSONSerialization, PropertyListSerialization, NSKeyedArchiver

/// The archived properties of a response serializer.
struct ArchivedResponseSerializer: Codable {
    private let statusCodes: [Range<Int>]?
    private let contentTypes: Set<String>?
    private let readingOptions: UInt
    private let removesKeysWithNullValues: Bool
    private let format: UInt
    private let readOptions: UInt
    private let imageScale: Double
    private let inflatesImages: Bool

    init(_ state: AFHTTPResponseSerializer.State) {
        statusCodes = state.statusCodes.map { Array($0.rangeView) }
        contentTypes = state.contentTypes
        readingOptions = state.readingOptions.rawValue
        removesKeysWithNullValues = state.removesKeysWithNullValues
        format = state.format.rawValue
        readOptions = state.readOptions.rawValue
        imageScale = state.imageScale
        inflatesImages = state.inflatesImages
    }

    /// The state of the serializer, with the members of a compound one.
    func state(_ members: [any AFURLResponseSerialization]) -> AFHTTPResponseSerializer.State {
        var state = AFHTTPResponseSerializer.State()
        state.statusCodes = statusCodes.map { ranges in
            var codes = IndexSet()
            // Statuses have three digits; an index set traps for a negative number.
            for range in ranges where range.lowerBound >= 0 && !range.isEmpty && range.upperBound <= 1_000 {
                codes.insert(integersIn: range)
            }
            return codes
        }
        state.contentTypes = contentTypes
        state.readingOptions = JSONSerialization.ReadingOptions(rawValue: readingOptions)
        state.removesKeysWithNullValues = removesKeysWithNullValues
        state.format = PropertyListSerialization.PropertyListFormat(rawValue: format) ?? .xml
        state.readOptions = PropertyListSerialization.ReadOptions(rawValue: readOptions)
        state.imageScale = imageScale
        state.inflatesImages = inflatesImages
        state.members = members
        return state
    }
}

extension NSCoder {
    /// The members of a compound serializer that an archive may have.
    private static let maximumMembers = 100
    /// The compound serializers within each other that an archive may have, since each takes a part of the stack.
    private static let maximumDepth = 8

    /// Encodes the members of a compound serializer, each as an archive of its own.
    func encode(members: [any AFURLResponseSerialization], forKey key: String) {
        guard allowsKeyedCoding, !members.isEmpty else { return }
        for (index, member) in members.prefix(Self.maximumMembers).enumerated() {
            let data = try? NSKeyedArchiver.archivedData(withRootObject: member, requiringSecureCoding: true)
            if let data { encode(NSData(data: data), forKey: "\(key).\(index)") }
        }
    }

    /// The members that were encoded; those that cannot be decoded are left out, as are other classes.
    func decodeMembers(forKey key: String) -> [any AFURLResponseSerialization] {
        let depth = ArchiveDepth.current
        guard depth < Self.maximumDepth else { return [] }
        return ArchiveDepth.$current.withValue(depth + 1) {
            var members: [any AFURLResponseSerialization] = []
            for index in 0..<Self.maximumMembers {
                guard let data = decodeData(forKey: "\(key).\(index)") else { break }
                let type = AFHTTPResponseSerializer.self
                let member = try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)
                if let member { members.append(member) }
            }
            return members
        }
    }
}

/// The number of compound serializers that are being decoded within each other.
private enum ArchiveDepth {
    @TaskLocal static var current = 0
}

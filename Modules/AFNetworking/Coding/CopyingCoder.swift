internal import Foundation  // NSCoder

/// Hands an object to the initializer of its copy, so that `init(coder:)` is the one required initializer of the
/// classes, as in AFNetworking, and a subclass that has it can be copied.
///
/// A subclass that decodes values of its own finds none here.
final class CopyingCoder: NSCoder {
    /// The object to copy.
    let original: AnyObject

    init(_ original: AnyObject) { self.original = original }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }
    override func containsValue(forKey key: String) -> Bool { false }
    override func decodeObject(forKey key: String) -> Any? { nil }
    override func decodeBool(forKey key: String) -> Bool { false }
    override func decodeInteger(forKey key: String) -> Int { 0 }
    override func decodeDouble(forKey key: String) -> Double { 0 }
}

extension CopyingCoder {
    /// A copy of an object, of its class, or of its nearest superclass whose initializer makes one.
    static func copy<Base: NSObject & NSSecureCoding>(of object: Base) -> Base? {
        let coder = CopyingCoder(object)
        var mirror: Mirror? = Mirror(reflecting: object)
        while let current = mirror, let type = current.subjectType as? Base.Type {
            if let copy = type.init(coder: coder) { return copy }
            mirror = current.superclassMirror
        }
        return nil
    }
}

extension NSCoder {
    /// The object to copy, if the coder is one for copies.
    func original<Object: AnyObject>(as type: Object.Type) -> Object? {
        (self as? CopyingCoder)?.original as? Object
    }

    /// Encodes a class's settings under its name. Coders without keys get nothing.
    func encode(settings: some Encodable, of name: String) {
        guard allowsKeyedCoding, let data = try? JSONEncoder().encode(settings) else { return }
        encode(NSData(data: data), forKey: name)
    }

    /// The settings that were encoded under a class's name; nil if there are none, or if they cannot be read.
    func decodeSettings<Settings: Decodable>(_ type: Settings.Type, of name: String) -> Settings? {
        decodeData(forKey: name).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    /// The data of a key; nil if there is none.
    func decodeData(forKey key: String) -> Data? {
        guard allowsKeyedCoding, containsValue(forKey: key) else { return nil }
        return decodeObject(of: NSData.self, forKey: key).map { Data($0) }
    }
}

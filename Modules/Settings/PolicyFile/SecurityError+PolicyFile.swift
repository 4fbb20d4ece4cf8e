public import LinnetSecurity

extension SecurityError.Code {
    /// A policy has a part that a document cannot hold: a custom evaluator or a closure.
    public static let unencodablePolicy = Self("unencodablePolicy")
    /// A policy file is not JSON, or does not have the form that its version requires.
    public static let invalidPolicyFile = Self("invalidPolicyFile")
    /// A policy file has an unknown version.
    public static let unknownPolicyVersion = Self("unknownPolicyVersion")
    /// A policy file has a key that its version does not define, or a key twice.
    public static let unknownPolicyKey = Self("unknownPolicyKey")
    /// A policy file lacks a required key.
    public static let missingPolicyKey = Self("missingPolicyKey")
    /// A policy file names a chain rule that does not exist.
    public static let unknownChainRule = Self("unknownChainRule")
    /// Policy files include each other in a cycle, or too many are included.
    public static let includeLoop = Self("includeLoop")
}

/// What is compared with the pinned certificates: AFNetworking's three modes.
public enum PinningMode: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the system's anchors decide.
    case none
    /// The certificates themselves, byte for byte; they are the only anchors.
    case certificate
    /// Their keys.
    case publicKey
}

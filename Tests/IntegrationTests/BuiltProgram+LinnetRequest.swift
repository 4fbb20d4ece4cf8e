import CommandSupport

extension BuiltProgram {
    static let linnetRequest = BuiltProgram("linnet-request")
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Which learning was shared, by whom and when. A CID is anchored once: the chain itself refuses a second time.
contract LearningRegistry {
    struct Learning {
        address contributor;
        uint64 timestamp;
        uint64 blockNumber;
        bytes32 metadataHash;
    }

    event LearningUploaded(
        bytes32 indexed cidHash,
        address indexed contributor,
        bytes32 indexed metadataHash,
        string cid,
        string license,
        uint256 timestamp
    );

    error AlreadyUploaded(address contributor);
    error BadCid();

    uint256 private constant LONGEST = 128;

    mapping(bytes32 cidHash => Learning) private learnings;

    function uploadLearning(string calldata cid, bytes32 metadataHash, string calldata license) external {
        if (bytes(cid).length == 0 || bytes(cid).length > LONGEST || bytes(license).length > LONGEST) revert BadCid();
        bytes32 cidHash = keccak256(bytes(cid));
        Learning storage known = learnings[cidHash];
        if (known.contributor != address(0)) revert AlreadyUploaded(known.contributor);
        learnings[cidHash] = Learning(msg.sender, uint64(block.timestamp), uint64(block.number), metadataHash);
        emit LearningUploaded(cidHash, msg.sender, metadataHash, cid, license, block.timestamp);
    }

    /// All zero for a CID that nobody has anchored.
    function getLearning(string calldata cid)
        external
        view
        returns (address contributor, uint64 timestamp, uint64 blockNumber, bytes32 metadataHash)
    {
        Learning storage known = learnings[keccak256(bytes(cid))];
        return (known.contributor, known.timestamp, known.blockNumber, known.metadataHash);
    }
}

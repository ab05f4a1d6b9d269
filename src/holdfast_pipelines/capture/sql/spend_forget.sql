-- spend_forget: what was set aside so long ago that no cap asks for it any more.
delete from spending_held where day < :before;
